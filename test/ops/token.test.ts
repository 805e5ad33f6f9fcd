import { expect, test } from 'vitest'
import { siteOf, startOpsServer } from '../support/ops-server.ts'

const token = '0123456789abcdef'
const guarded = () =>
  startOpsServer({ token, console: siteOf((_request, response) => void response.send('a console')) })

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

async function statuses(url: string, authorization?: string): Promise<Record<string, number>> {
  const paths = ['/livez', '/readyz', '/metrics', '/', '/mismatches', '/nothing']
  const asked = paths.map(async (path) => {
    const response = await fetch(url + path, { headers: { ...(authorization && { authorization }) } })
    await response.body?.cancel()
    return [path, response.status] as const
  })
  return Object.fromEntries(await Promise.all(asked))
}

const open = { '/livez': 200, '/readyz': 200, '/metrics': 200, '/': 200, '/mismatches': 200, '/nothing': 200 }
const closed = {
  '/livez': 200,
  '/readyz': 200,
  '/metrics': 401,
  '/': 401,
  '/mismatches': 401,
  '/nothing': 401,
}

test.each([`Bearer ${token}`, `bearer  ${token}`, basic(`anybody:${token}`), basic(`:${token}`)])(
  'who tells the token sees everything: %s',
  async (authorization) => {
    expect(await statuses(await guarded(), authorization)).toEqual(open)
  },
)

test.each([
  undefined,
  token,
  'Bearer ',
  `Bearer ${token}x`,
  `Bearer x,Bearer ${token}`,
  `Digest ${token}`,
  basic(token),
  basic(`${token}:${token}x`),
  'Basic ====',
])(
  'who does not is told whether the process is alive and ready, and nothing else: %j',
  async (authorization) => {
    expect(await statuses(await guarded(), authorization)).toEqual(closed)
  },
)

test('a stranger is told that it is ready, and not why or why not; a browser asks for the token', async () => {
  const url = await guarded()
  const answer = await fetch(`${url}/readyz`)
  expect(Object.keys((await answer.json()) as object)).toEqual(['ready'])
  const known = await fetch(`${url}/readyz`, { headers: { authorization: `Bearer ${token}` } })
  expect(Object.keys((await known.json()) as object)).toContain('fine')
  const refused = await fetch(`${url}/metrics`)
  expect(refused.headers.get('www-authenticate')).toBe('Basic realm="depositd", charset="UTF-8"')
  expect(await refused.text()).not.toContain(token)
})

test('every answer is taken for what it says it is, kept by nobody, and tells nothing of what serves it', async () => {
  const url = await guarded()
  const headers = { authorization: `Bearer ${token}` }
  const answers = await Promise.all(
    ['/livez', '/readyz', '/metrics'].flatMap((path) => [fetch(url + path), fetch(url + path, { headers })]),
  )
  for (const { headers: reported, status } of answers) {
    expect(reported.get('x-content-type-options')).toBe('nosniff')
    expect([status, reported.get('cache-control')]).toEqual([status, 'no-store'])
    expect(reported.has('x-powered-by')).toBe(false)
    expect(reported.has('server')).toBe(false)
  }
})
