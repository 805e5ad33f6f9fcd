import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { temporaryFolderOfFile } from '../support/folder.ts'
import { readOptions } from './options.ts'
import { page } from './page.ts'
import type { Result } from './suite.ts'

type Ran = { status: number; out: string; err: string }

const run = join(import.meta.dirname, 'run.ts')
const server = createServer((_request, response) => response.writeHead(404).end('{}'))
let url: string
const folder = temporaryFolderOfFile()
const withKey = ['--key-file', 'key']

beforeAll(async () => {
  await writeFile(join(folder, 'key'), 'k\n')
  await writeFile(join(folder, 'empty'), '\n')
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const bound = server.address()
  url = `http://127.0.0.1:${bound !== null && typeof bound === 'object' ? bound.port : 0}`
})
afterAll(() => void server.close())

function conformance(...words: string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(process.execPath, [run, ...words], { cwd: folder }, (error, out, err) =>
      resolve({ status: error === null ? 0 : Number(error.code), out, err }),
    )
  })
}

test.each([
  [[], '--url and --key-file are needed'],
  [['--url', 'http://127.0.0.1:1'], '--url and --key-file are needed'],
  [['--url', 'example.com', ...withKey], '--url must be an address that begins with http:// or https://'],
  [['--url', 'http://x', ...withKey, '--other', 'base:ETH'], 'is not of the form network:asset:amount'],
  [['--url', 'http://x', ...withKey, '--amount', '0'], '--amount is no decimal above 0: 0'],
  [['--url', 'http://x', ...withKey, '--ca', '/nowhere.pem'], '--ca cannot be read: /nowhere.pem'],
  [['--url', 'http://x', '--key-file', 'empty'], '--key-file names a file with nothing in it'],
  [['--url', 'http://x', '--key', 'k'], "Unknown option '--key'"],
])('%j is wrong use', async (words, message) => {
  const { status, out, err } = await conformance(...words)
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err).toContain(`conformance: `)
  expect(err).toContain(message)
  expect(err).not.toContain('    at ')
})

test('every option comes to the suite', async () => {
  const ca = join(folder, 'ca.pem')
  await writeFile(ca, 'the PEM')
  const [key, readKey] = [join(folder, 'write-key'), join(folder, 'read-key')]
  await writeFile(key, 'w\n')
  await writeFile(readKey, 'r\n')
  const keys = ['--key-file', key, '--read-key-file', readKey]
  const words = ['--url', 'https://x/base/', ...keys, '--ca', ca, '--amount', '2.5']
  const others = ['--other', 'base:ETH:0.1', '--other', 'solana:SOL:1', '--within', '7', '--lend', 'true']
  const options = readOptions([...words, ...others, '--pay', 'echo own', '--json'])
  expect(options).toMatchObject({
    json: true,
    subject: {
      url: 'https://x/base',
      key: 'w',
      readKey: 'r',
      ca: 'the PEM',
      amount: '2.5',
      others: [
        { network: 'base', asset: 'ETH', amount: '0.1' },
        { network: 'solana', asset: 'SOL', amount: '1' },
      ],
      withinMs: 7000,
    },
  })
  const commands = options?.subject.commands ?? {}
  expect(Object.keys(commands).toSorted()).toEqual(['balance', 'hold', 'pay', 'webhook', 'withdraw'])
  expect(await commands.pay?.('base', 'two words')).toBe('own base two words')
})

test('help names every option and every command with its words', async () => {
  const { status, out } = await conformance('--help')
  expect(status).toBe(0)
  expect(out).toContain('pays: network asset amount address')
})

test('a service that does nothing right is broken in every fact that needs no command', async () => {
  const { status, out } = await conformance('--url', `${url}/`, ...withKey, '--json')
  expect(status).toBe(1)
  const results = JSON.parse(out) as Result[]
  expect(results).toHaveLength(page.flatMap(({ facts }) => facts).length)
  expect(results.filter(({ verdict }) => verdict.kind === 'holds')).toEqual([])
  const reasons = results.flatMap(({ verdict }) => (verdict.kind === 'not checked' ? [verdict.reason] : []))
  expect(reasons.filter((reason) => !/^needs (a )?--|^who holds the keys/.test(reason))).toEqual([])
})

test('the report quotes each fact below its section, says what is wrong, and counts', async () => {
  const { out } = await conformance('--url', url, ...withKey)
  expect(out).toMatch(
    /^Channel\n {2}BROKEN {7}id \| string \| .+\n {15}creating a channel was answered with 404/m,
  )
  expect(out).toMatch(/\n\d+ facts: 0 hold, \d+ broken, \d+ not checked\n$/)
})

test('a command gets its words behind it, and the service in its environment', async () => {
  const script = join(folder, 'register.sh')
  await writeFile(script, `echo "$# $1 $CONFORMANCE_URL $CONFORMANCE_KEY" > ${folder}/seen\n`)
  await conformance('--url', url, ...withKey, '--webhook', `sh ${script}`)
  const seen = await readFile(join(folder, 'seen'), 'utf8')
  expect(seen).toMatch(new RegExp(`^1 http://127.0.0.1:\\d+/ ${url} k\n$`))
})

test('one command lends whatever no other does, and is told what by its first word', async () => {
  const script = join(folder, 'lend.sh')
  await writeFile(script, `echo "$1 $#" > ${folder}/lent\n`)
  await conformance('--url', url, ...withKey, '--lend', `sh ${script}`)
  expect(await readFile(join(folder, 'lent'), 'utf8')).toBe('webhook 2\n')
})
