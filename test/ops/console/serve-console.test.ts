import { connect } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { describe, expect, test, vi } from 'vitest'
import { Fault } from '../../../src/core/errors.ts'
import type { ConsoleReader } from '../../../src/ops/console/reader.ts'
import { serveConsole } from '../../../src/ops/console/serve-console.ts'
import { emptyReader, faultsOfPage, noPeople, pageAt, startConsole } from '../../support/console-reader.ts'
import { startOpsServer } from '../../support/ops-server.ts'

const paths = ['/', '/mismatches', '/deposits', '/ledger']

test('links to the dashboards at the address of the settings, and to none without one', async () => {
  const linked = await pageAt(await startConsole({ dashboards: 'https://grafana.example' }))
  expect(linked.text).toContain('<a href="https://grafana.example">Dashboards</a>')
  expect((await pageAt(await startConsole())).text).not.toContain('Dashboards')
})

describe.each(paths)('%s', (path) => {
  test('is a page that is whole, with nothing to show', async () => {
    const { status, text, headers } = await pageAt((await startConsole()) + path)
    expect({ status, faults: faultsOfPage(text) }).toEqual({ status: 200, faults: [] })
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(text).toContain('depositd 1.2.3, read only')
    expect(text).toContain(`<a href="${path}" aria-current="page">`)
  })

  test('runs and loads nothing from elsewhere, and is kept by nobody', async () => {
    const { headers } = await pageAt((await startConsole()) + path)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    })
  })

  test('answers HEAD without a body, and nothing else than reading', async () => {
    const url = (await startConsole()) + path
    const head = await fetch(url, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(500)
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const refused = await fetch(url, { method })
      expect([method, refused.status, refused.headers.get('allow')]).toEqual([
        method,
        405,
        path === '/mismatches' ? 'GET, HEAD, POST' : 'GET, HEAD',
      ])
    }
    expect((await fetch(url, { method: 'POST' })).status).toBe(path === '/mismatches' ? 403 : 405)
  })
})

test('the style sheet and the icon come from here, under names that change with the content', async () => {
  const url = await startConsole()
  const { text } = await pageAt(url)
  const links = [...text.matchAll(/<link [^>]*href="([^"]+)"/g)].map(([, path = '']) => path)
  expect(links).toEqual(['/console-icon.svg', expect.stringMatching(/^\/console-[0-9a-f]{12}\.css$/)])
  const types = await Promise.all(
    links.map(async (path) => (await fetch(url + path)).headers.get('content-type')),
  )
  expect(types).toEqual(['image/svg+xml; charset=utf-8', 'text/css; charset=utf-8'])
})

describe('what is not there, or cannot be asked, is one line', () => {
  const wrong = [
    ['/mismatches/1', 404, 'there is no mismatch "1"'],
    ['/mismatches/1%00', 404, 'there is no mismatch "1\\u0000"'],
    ['/deposits/7', 404, 'there is no deposit "7"'],
    [`/deposits/${'9'.repeat(30)}`, 404, `there is no deposit "${'9'.repeat(30)}"`],
    ['/deposits/find?reference=0xabc', 404, 'there is no deposit "0xabc"'],
    ['/deposits/find', 404, 'there is no deposit ""'],
    ['/mismatches?after=x', 400, 'after is "x"; it must be a number'],
    ['/deposits?limit=9', 400, 'there is no filter "limit"; use state, owner, service, network, before'],
    ['/?refresh=1', 400, 'refresh does not know "1"; use 30'],
    ['/ledger?x=1', 400, 'there is no filter "x"; use none'],
  ] as const

  test.each(wrong)('%s', async (path, status, line) => {
    const url = (await startConsole()) + path
    const plain = await fetch(url)
    expect([plain.status, await plain.text()]).toEqual([status, `${line}\n`])
    const page = await pageAt(url)
    expect([page.status, faultsOfPage(page.text)]).toEqual([status, []])
  })
})

test('a path that is no text is refused in one line', async () => {
  const response = await fetch(`${await startConsole()}/mismatches/%zz`)
  expect([response.status, await response.text()]).toEqual([400, 'the path is no text\n'])
})

test('a reference finds its deposit, and several are told to choose from', async () => {
  const one = await pageAt(
    `${await startConsole({ findDeposits: () => Promise.resolve([7n]) })}/deposits/find?reference=dep_7`,
  )
  expect([one.status, one.headers.get('location')]).toEqual([303, '/deposits/7'])
  const several = await pageAt(
    `${await startConsole({ findDeposits: () => Promise.resolve([7n, 8n]) })}/deposits/find?reference=%3Cb%3E`,
  )
  expect(several.text).toContain('<a href="/deposits/7">deposit 7</a>')
  expect(several.text).toContain('known by &#60;b&#62;:')
})

test('a database that does not answer is said, with when to ask again', async () => {
  const fault = new Fault('remote_failed', {
    what: 'reading the database',
    problem: 'no answer within 10000 ms',
  })
  const failing: Partial<ConsoleReader> = {
    overview: () => Promise.reject(fault),
  }
  const url = await startConsole(failing)
  const down = await fetch(url)
  expect([down.status, down.headers.get('retry-after'), await down.text()]).toEqual([
    503,
    '5',
    'reading the database: no answer within 10000 ms\n',
  ])
})

test('a fault of the program is for the log, and nobody who asks is told more', async () => {
  const reported: unknown[] = []
  const thrown = new TypeError('at postgres://somebody:hunter2@db/books')
  const reader = emptyReader({ deposits: () => Promise.reject(thrown) })
  const failed = (...what: unknown[]) => void reported.push(what)
  const url = await startOpsServer({ console: serveConsole(reader, noPeople), failed })
  const broken = await pageAt(`${url}/deposits`)
  expect([broken.status, broken.text]).toEqual([500, 'the answer failed; the log says why\n'])
  expect(reported).toEqual([['/deposits', thrown]])
})

/** As no client writes it that is well-behaved. */
function answerTo(url: string, target: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(`GET ${target} HTTP/1.1\r\nhost: ${hostname}\r\nconnection: close\r\n\r\n`)
  return textOf(socket)
}

const odd = [
  '//',
  '//?x',
  'http://x:99999/',
  'http://x:99999/?refresh=%',
  '/?refresh=%zz',
  '///deposits//',
  '*',
]

test.each(odd)('whatever %s is, nothing of the program shows', async (target) => {
  const failed = vi.fn<() => void>()
  const url = await startOpsServer({ console: serveConsole(emptyReader(), noPeople), failed })
  const answer = await answerTo(url, target)
  expect(answer).toMatch(/^HTTP\/1\.1 (?:200|400|404) /)
  expect(answer).not.toMatch(/\.[tj]s:\d|node_modules/)
  expect(failed).not.toHaveBeenCalled()
})

test('it refreshes by itself only where somebody asked for it', async () => {
  const url = await startConsole()
  expect((await pageAt(url)).text).not.toContain('http-equiv')
  expect((await pageAt(`${url}/?refresh=30`)).text).toContain('<meta http-equiv="refresh" content="30">')
})
