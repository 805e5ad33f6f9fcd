import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { writeKey } from '../../service/fixtures.ts'
import { type OpenApi, openApi } from '../../service/http/open-api.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { temporaryFolderOfFile } from '../../support/folder.ts'
import { judgingEnvironment } from '../../support/judging-environment.ts'
import { addPeople, signingKeys } from '../../support/people.ts'

let own: OpenApi
let acme: OpenApi
let books: Books
let environment: Record<string, string>
const folder = temporaryFolderOfFile()

beforeAll(async () => {
  ;[own, acme, books] = await Promise.all([openApi(), openApi(), openBooks()])
  await addPeople(books.owner)
  const path = join(folder, 'settings.yaml')
  const auth = { secret: 'SERVICE_API_ACME_KEY' }
  writeFileSync(
    path,
    stringify({ services: { acme: { url: acme.url, auth, webhooks: { scheme: 'none' } } } }),
  )
  environment = judgingEnvironment(books.url, {
    SERVICE_URL: own.url,
    SERVICE_API_KEY: writeKey,
    SERVICE_API_ACME_KEY: writeKey,
    DEPOSITD_CONFIG: path,
  })
})
afterAll(async () => {
  await Promise.all([own.close(), acme.close()])
  await books[Symbol.asyncDispose]()
})

const depositd = (line: string) => runCommand(line, { ...environment, ...signingKeys.erin })
const idsIn = async (line: string) => {
  const { items } = JSON.parse((await depositd(`${line} --json`)).out) as { items: { id: string }[] }
  return [...new Set(items.map(({ id }) => id))].toSorted()
}

test('a channel and a wallet are created at the service that is named, with ids of their own', async () => {
  const to = '--network base --asset USDC --recipient 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
  expect(await depositd(`channels create till ${to} --service acme`)).toMatchObject({ status: 0, err: '' })
  expect((await depositd('wallets create savings --service acme')).out).toContain(
    'stable_wallet/acme/savings',
  )
  expect(await idsIn('channels list --service acme')).toEqual(['acme/till'])
  expect(await idsIn('channels list --remote')).toEqual(['acme/till'])
  expect(await idsIn('channels list --remote --service acme')).toEqual(['acme/till'])
  expect(await idsIn('wallets list --remote')).toEqual(['acme/savings'])
  expect(await idsIn('channels list --remote --service default')).toEqual([])
})

test('a service that there is not is refused before anything is created', async () => {
  const { status, err } = await depositd('wallets create other --service acne')
  expect([status, err]).toEqual([2, expect.stringContaining('did you mean acme? use default, acme')])
  expect(await idsIn('wallets list --remote --service default')).toEqual([])
})
