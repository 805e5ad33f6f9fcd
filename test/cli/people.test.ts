import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { type Books, openBooks } from '../support/books.ts'
import { runCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'

let books: Books
let folder: string

beforeEach(async () => {
  books = await openBooks()
  onTestFinished(() => books[Symbol.asyncDispose]())
  folder = await temporaryFolder()
})

const fileOf = (name: string) => join(folder, `${name}.key`)

function depositd(line: string, person?: string) {
  const key = person === undefined ? {} : { SIGNING_KEY_FILE: fileOf(person) }
  return runCommand(line, { DATABASE_URL: books.url, ...key })
}

/** @returns the public key */
async function makeKey(name: string): Promise<string> {
  const { out } = await depositd(`people key ${name} --out ${fileOf(name)}`)
  return out.trimEnd().split('\n').at(-1) ?? ''
}

test('the first administrator enters the register by their own key, and adds and removes others', async () => {
  expect((await depositd('people list')).out).toMatch(/^no people: add the first administrator/)
  const [erin, max] = [await makeKey('erin'), await makeKey('max')]
  expect(statSync(fileOf('erin')).mode & 0o777).toBe(0o600)
  expect(readFileSync(fileOf('erin'), 'utf8')).not.toContain(erin)
  const added = await depositd('people add erin --roles administrator,accountant', 'erin')
  expect(added.out).toBe('erin is administrator, accountant, by decision 1 of erin\n')
  expect((await depositd('people add max --roles approver', 'erin')).err).toMatch(
    /^depositd: max has no key; give /,
  )
  expect((await depositd(`people add max --roles boss --key ${max}`, 'erin')).err).toContain(
    '--roles is "boss"',
  )
  await depositd(`people add max --roles approver --key ${max}`, 'erin')
  // Without --key, the keys stay.
  await depositd('people add max --roles approver,operator', 'erin')
  const { items } = JSON.parse((await depositd('people list --json')).out)
  expect(items).toEqual([
    { name: 'erin', roles: ['administrator', 'accountant'], keys: [erin] },
    { name: 'max', roles: ['approver', 'operator'], keys: [max] },
  ])
  expect((await depositd('people remove max', 'max')).err).toContain('max is no administrator')
  expect((await depositd('people remove Max', 'erin')).out).toBe('max is removed, by decision 4 of erin\n')
  expect((await depositd('people remove max', 'erin')).status).toBe(3)
  expect((await depositd('people remove erin', 'erin')).err).toContain(
    'no administrator with a key would remain',
  )
})

test('without a key nothing is decided, and a decision that waits is shown, rejected and listed', async () => {
  const max = await makeKey('max')
  await makeKey('erin')
  expect((await depositd('people add erin --roles administrator')).err).toMatch(
    /^depositd: no SIGNING_KEY is set/,
  )
  await depositd('people add erin --roles administrator,accountant', 'erin')
  await depositd(`people add max --roles approver --key ${max}`, 'erin')
  const refused = await depositd('ledger close 2026-01', 'max')
  expect(refused.err).toContain('max is no accountant')
  expect((await depositd('decisions show 2')).out).toMatch(
    /^decision 2: person, done\nsigned by erin\n\{\n {2}"decision": /,
  )
  expect((await depositd('decisions reject 2 --reason no', 'max')).err).toContain('decision 2 is done')
  expect((await depositd('decisions approve 99', 'max')).status).toBe(3)
  expect((await depositd('decisions list --state done')).out.trimEnd().split('\n')).toHaveLength(3)
  expect((await depositd('decisions list --state waiting')).out).toBe('no decisions\n')
})
