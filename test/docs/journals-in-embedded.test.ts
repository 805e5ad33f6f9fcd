import { writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { NetworkName } from '../../src/core/asset.ts'
import { writeSettings } from '../../src/sandbox/settings-files.ts'
import type { Books } from '../support/books.ts'
import { usdcOnBase } from '../support/evidence.ts'
import { openExampleBooks } from '../support/example-books.ts'
import { temporaryFolderOfFile } from '../support/folder.ts'
import { fences } from '../support/markdown.ts'
import { depositd, inAnyFolder, shell } from '../support/shell.ts'
import { readText } from './pages.ts'

const page = fences(readText('docs/journals-by-hand.md'))
const steps = page.find(({ text }) => text.includes('embedded.yaml'))?.text ?? ''
const example = page.find(({ text }) => text.includes('bank-2026-0103'))?.text ?? ''

const folder = temporaryFolderOfFile()
let books: Books

const assets = [{ key: usdcOnBase, network: 'base' as NetworkName, symbol: 'USDC', decimals: 6 }]

/** As `npm start` leaves them. */
beforeAll(async () => {
  books = await openExampleBooks()
  await mkdir(join(folder, '.depositd'))
  writeSettings({
    folder: join(folder, '.depositd'),
    databaseUrl: books.url,
    serviceUrl: 'http://127.0.0.1:1',
    apiKey: 'key',
    webhookSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    networks: [
      { name: 'base' as NetworkName, family: 'evm', chainId: 8453, rpcUrls: ['http://127.0.0.1:1'], assets },
    ],
    senders: {},
    httpPort: 8080,
    opsPort: 9464,
  })
  writeFileSync(join(folder, 'journal.yaml'), example)
})
afterAll(() => books[Symbol.asyncDispose]())

test('beside the demonstration, a journal finds accounts of its own in a copy of the settings', async () => {
  expect(await shell(inAnyFolder(steps), { folder })).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^valid, not booked: manual\/bank-2026-0103, in the books of 2026-01\n/),
    err: '',
  })
})

test('a file of settings that embedded mode does not read is named in one line', async () => {
  const words = ['ledger', 'journal', 'add', 'journal.yaml', '--dry-run']
  const { err } = await depositd(words, { folder, environment: { DEPOSITD_CONFIG: 'own.yaml' } })
  expect(err.split('\n')[0]).toBe(
    'depositd: DEPOSITD_CONFIG is ignored: without SERVICE_URL, the settings are .depositd/embedded.yaml, which each start writes',
  )
  expect(err).toContain('account assets:bank:main does not exist')
  expect((await depositd(words, { folder })).err).not.toContain('DEPOSITD_CONFIG')
})
