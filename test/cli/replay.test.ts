import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createClaimReader } from '../../src/provider/read-claim.ts'
import { appendInbox } from '../../src/store/inbox.ts'
import { type Books, openBooks } from '../support/books.ts'
import { runCommand } from '../support/command.ts'
import { claim } from '../support/evidence.ts'
import { temporaryFolder } from '../support/folder.ts'
import { madeUpNetworks, settingsEnvironment } from '../support/judging-environment.ts'
import { ownRecord, vocabulary } from '../support/own-payloads.ts'
import { ownProfile } from '../support/profile.ts'

let books: Books
let environment: Record<string, string>
let profilePath: string

const own = readFileSync(join(import.meta.dirname, '../../profiles/depositd.yaml'), 'utf8')

/** A deposit whose status the profile does not know. */
beforeEach(async () => {
  books = await openBooks({ readClaim: createClaimReader(ownProfile, vocabulary) })
  const body = Buffer.from(JSON.stringify(ownRecord(claim(), 'paid_out')))
  await appendInbox(books.db, [
    { source: 'api', sourceKey: 'dep_1', body, headers: {}, receivedAt: new Date('2026-01-01T00:05:00Z') },
  ])
  await books.settle()
  const folder = await temporaryFolder()
  profilePath = join(folder, 'profile.yaml')
  writeFileSync(profilePath, own)
  environment = settingsEnvironment(books.url, folder, settingsText)
})
afterEach(() => books[Symbol.asyncDispose]())

const settingsText = `${madeUpNetworks}service: { profile: ./profile.yaml }\n`

const depositd = (line: string) => runCommand(line, environment)
const fix = () => writeFileSync(profilePath, own.replace('      settled: settled', '      paid_out: settled'))

test('replay tells what became of each payload, and fails while one cannot be read', async () => {
  expect(await depositd('replay')).toEqual({
    status: 1,
    out: 'read: 1; applied: 0; ignored: 0; still unreadable: 1; journals: 0\n',
    err: 'read: 1; applied: 0; ignored: 0; still unreadable: 1; journals: 0\n',
  })
  fix()
  const replayed = await depositd('replay --kind unknown_status --since 2026-01-01 --json')
  expect(replayed.status).toBe(0)
  expect(JSON.parse(replayed.out)).toEqual({
    rows: 1,
    applied: 1,
    passed_over: 0,
    unreadable: 0,
    journals: 0,
  })
  expect(await depositd('mismatches list --kind unknown_status')).toMatchObject({ out: 'no mismatches\n' })
  expect(await depositd('deposits show dep_1')).toMatchObject({ status: 0 })
  expect(await depositd('replay')).toMatchObject({
    status: 0,
    out: 'read: 0; applied: 0; ignored: 0; still unreadable: 0; journals: 0\n',
  })
})

test.each([
  ['replay --kind unreported', /^depositd: --kind is "unreported"; use unknown_event, /],
  ['replay --since yesterday', /^depositd: --since is "yesterday"; give a day or a time, like /],
  ['replay --since 2026-13-45', /^depositd: --since is "2026-13-45"; /],
  [
    'replay --kind schema_drift --passed-over',
    /^error: option '--kind <kind>' cannot be used with option '--passed-over'/,
  ],
])('%s is refused in one line', async (line, error) => {
  const { status, out, err } = await depositd(line)
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err).toMatch(error)
  expect(err.trimEnd().split('\n')).toHaveLength(1)
})

test('a profile that cannot be read is named with the line of its fault, by whatever needs it', async () => {
  writeFileSync(profilePath, own.replace('detected: observed', 'detected: seen'))
  const fault = 'profile profile.yaml, line 19, record.status.words.detected: must be one of observed, '
  for (const line of ['replay', 'start --roles worker']) {
    const { status, out, err } = await depositd(line)
    expect({ status, out }).toEqual({ status: 2, out: '' })
    expect(err).toContain(`depositd: ${fault}`)
  }
  writeFileSync(profilePath, `${own}networks: { eth: mainet }\n`)
  for (const line of [
    'replay',
    'start --roles worker',
    'channels list --remote',
    'webhooks quarantine retry',
  ])
    expect((await depositd(line)).err).toMatch(
      /^depositd: profile profile\.yaml, line \d+, networks\.eth: must name a network of the settings, not mainet$/m,
    )
  environment.DEPOSITD_CONFIG = environment.DEPOSITD_CONFIG?.replace('settings.yaml', 'other.yaml') ?? ''
  writeFileSync(environment.DEPOSITD_CONFIG, settingsText.replace('./profile.yaml', './gone.yaml'))
  expect((await depositd('replay')).err).toMatch(/^depositd: profile gone\.yaml cannot be read: ENOENT/)
})
