import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseProfile } from '../../../src/provider/profile/parse-profile.ts'
import type { DepositRecord } from '../../../src/service/deposits/record.ts'
import { openDatabase } from '../../../src/store/database.ts'
import { appendInbox } from '../../../src/store/inbox.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { eventOf, lives } from '../../provider/infer/lives.ts'
import { mint, usdc } from '../../provider/settled-row.ts'
import { runCommand } from '../../support/command.ts'
import { temporaryFolderOfFile } from '../../support/folder.ts'
import { otherEvent, otherRecord } from '../../support/other-service.ts'
import { testDatabase } from '../../support/postgres.ts'

const folder = temporaryFolderOfFile()

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const settings = file(
  'depositd.yaml',
  `networks:
  - { name: base, family: evm, chainId: 8453, assets: [{ symbol: USDC, contract: '${usdc}', decimals: 6 },
      { symbol: ETH, contract: native, decimals: 18 }] }
  - { name: solana, family: solana, assets: [{ symbol: USDC, contract: ${mint}, decimals: 6 }] }
`,
)

const [firstRecord] = lives as [DepositRecord, ...DepositRecord[]]
const bodies = lives.map((record, place) => JSON.stringify(otherEvent(eventOf(record, place))))
const captures = file(
  'captures.jsonl',
  bodies.map((body) => JSON.stringify({ headers: {}, body, received_at: '2026-01-01T02:00:00Z' })).join('\n'),
)
const answer = file(
  'answer.json',
  JSON.stringify({ items: lives.map(otherRecord).toReversed(), page: 1, pages: 3 }),
)

test('without a database, from files alone, a profile is printed that reads them, with what is unsure marked', async () => {
  const { status, out, err } = await runCommand(`webhooks profile --from ${captures} --records ${answer}`, {
    DEPOSITD_CONFIG: settings,
  })
  expect({ status, err }).toEqual({ status: 0, err: '' })
  expect(out).toMatchInlineSnapshot(`
    "# A draft. It reads 16 of 16 webhooks and 16 of 16 records.
    # Proved: 1 of 35 lines. Lines marked as unsure are guesses: check each of them.
    # No address book was read, since DATABASE_URL is not set: addresses and owners are recognised by their names and formats only.
    # No node was asked, so nothing is proved by a chain. Set RPC_… to nodes of your networks, and leave out --offline.
    # Missing samples:
    # - a webhook that is not about a deposit, such as a test
    # - 3 more deposits whose payments a chain shows
    # - a deposit that failed
    # - a deposit that was held
    # - a deposit that was refunded

    webhook:
      id: notification.uuid # proved: another one for each of 16 webhooks
      kind:
        paths: notification.topic # unsure: only 1 value seen; 2 are needed
        words:
          TRANSFER_CHANGED: deposit # unsure: not all of its payments were found on a chain; alternatives: ignored
      record: payload.transfer # unsure: too few deposits are in both webhooks and records of the API
      occurredAt: { paths: notification.sent_ms, as: ms } # unsure: it may be the time of sending
    record:
      id: reference # unsure: no node was asked
      owner:
        kind:
          paths: beneficiary.class # unsure: the address book has none of these owners
          words:
            CH: channel # unsure: the address book has none of these owners; alternatives: stable_wallet
            SW: stable_wallet # unsure: the address book has none of these owners; alternatives: channel
        id: beneficiary.key # unsure: the address book has no owners
      status:
        paths: phase # unsure: no node was asked
        words:
          INCOMING: observed # unsure: by the word alone; alternatives: confirmed, settling, held
          FINAL: confirmed # unsure: by the word alone; alternatives: observed, settling, held
          SWAPPING: settling # unsure: by the word alone; alternatives: observed, confirmed, held
          BOOKED: settled # unsure: unknown word; guessed from its order; alternatives: confirmed, settling, held
          PAYING_OUT: settling # unsure: by the word alone; alternatives: observed, confirmed, held
          DONE: settled # unsure: by the word alone; alternatives: confirmed, settling, held
      createdAt: { paths: opened_ms, as: ms } # unsure: no node was asked
      occurredAt: { paths: changed_ms, as: ms } # unsure: no status was seen in both a webhook and a record; alternatives: opened_ms
      deposit:
        network: incoming.chain # unsure: no node was asked
        address: incoming.wallet # unsure: no node was asked
        asset: { paths: incoming.token, presence: nullable, otherwise: native } # unsure: no node was asked
        amount: { paths: incoming.qty, as: units } # unsure: no node was asked
        transaction: incoming.hash # unsure: no node was asked
        index: incoming.position # unsure: no node was asked
      settlement:
        network: { paths: outgoing.chain, presence: nullable, otherwise: stable-wallet } # unsure: no node was asked
        address: outgoing.wallet # unsure: no node was asked
        asset: { paths: outgoing.token, presence: nullable, otherwise: native } # unsure: no node was asked
        amount: { paths: outgoing.qty, as: units } # unsure: no node was asked
        transaction: { paths: outgoing.hash, absent: [ '' ] } # unsure: no node was asked
        fee: { paths: outgoing.commission, as: units } # unsure: no node was asked
    networks:
      BASE: base # unsure: no chain decides it; alternatives: solana
      SOL: solana # unsure: no chain decides it; alternatives: base
    list:
      items: items # unsure: too few of its payments were found on a chain
      pages: page # unsure: only single answers were seen: ask for the next page
    "
  `)
  expect(parseProfile(out).faults).toEqual([])
})

test('from the inbox, webhooks and polled records are taken, and owners are known by the address book', async () => {
  await using database = await testDatabase().then(({ url, drop }) => ({ url, [Symbol.asyncDispose]: drop }))
  const db = openDatabase<Tables>({ url: database.url, poolMax: 1, applicationName: 'test' })
  const rows = [
    ...bodies.map((body, place) => ({ source: 'webhook' as const, sourceKey: `ntf-${place}`, body })),
    ...lives.map((record, place) => ({
      source: 'api' as const,
      sourceKey: `${record.id} ${place}`,
      body: JSON.stringify(otherRecord(record)),
    })),
  ]
  await appendInbox(
    db,
    rows.map((row) => ({ ...row, body: Buffer.from(row.body), headers: {}, receivedAt: new Date() })),
  )
  await db.insertInto('owner').values({ kind: 'stable_wallet', id: 'savings', added_by: 'ana' }).execute()
  await db.destroy()
  const environment = { DATABASE_URL: database.url, DEPOSITD_CONFIG: settings }
  const { status, out } = await runCommand('webhooks profile --json', environment)
  expect(status).toBe(0)
  const document = JSON.parse(out) as { proofs: { path: string[]; proof: { kind: string } }[] }
  expect(document).toMatchObject({
    profile: { record: { owner: { kind: { words: { CH: 'channel', SW: 'stable_wallet' } } } } },
    webhooks: { read: lives.length, ignored: 0, unread: 0 },
    records: { read: lives.length, ignored: 0, unread: 0 },
    not_json: 0,
  })
  // No node was asked, so the column is unsure, and its words with it.
  const ofOwner = document.proofs.filter(({ path }) => path.join('.').startsWith('record.owner'))
  expect(ofOwner.map(({ path, proof }) => [path.at(-1), proof.kind])).toEqual([
    ['paths', 'unsure'],
    ['CH', 'unsure'],
    ['SW', 'unsure'],
    ['id', 'unsure'],
  ])
})

test('an empty address book is named, with the commands that fill it', async () => {
  await using database = await testDatabase().then(({ url, drop }) => ({ url, [Symbol.asyncDispose]: drop }))
  const environment = { DATABASE_URL: database.url, DEPOSITD_CONFIG: settings }
  const line = `webhooks profile --from ${captures} --records ${answer}`
  const note =
    'The address book is empty, so addresses and owners cannot be recognised. First import yours: bin/depositd channels import FILE, bin/depositd wallets import FILE.'
  expect((await runCommand(line, environment)).out).toContain(`# ${note}\n`)
  expect(JSON.parse((await runCommand(`${line} --json`, environment)).out)).toMatchObject({
    notes: [note, expect.stringContaining('No node was asked')],
  })
  const db = openDatabase<Tables>({ url: database.url, poolMax: 1, applicationName: 'test' })
  await db.insertInto('owner').values({ kind: 'stable_wallet', id: 'savings', added_by: 'ana' }).execute()
  await db.destroy()
  expect((await runCommand(line, environment)).out).not.toContain('The address book is empty')
})

test('what the profile does not read is told above it, and the status is that of bad news', async () => {
  const strange = JSON.stringify(
    otherEvent(eventOf({ ...firstRecord, owner: { type: 'channel', id: '' } }, 99)),
  )
  const mixed = file(
    'mixed.jsonl',
    [...bodies, strange, '<html>']
      .map((body) => JSON.stringify({ headers: {}, body, received_at: '2026-01-01T02:00:00Z' }))
      .join('\n'),
  )
  const { status, out } = await runCommand(`webhooks profile --from ${mixed}`, { DEPOSITD_CONFIG: settings })
  expect(status).toBe(1)
  expect(out.split('\n').slice(0, 4)).toEqual([
    '# A draft. It reads 16 of 17 webhooks and 0 of 0 records.',
    '# Proved: 1 of 33 lines. Lines marked as unsure are guesses: check each of them.',
    '# Captured bodies that are not JSON: 1.',
    '# Not read: payload.transfer.beneficiary.key: is missing',
  ])
})

test.each([
  [
    '--from EMPTY',
    'depositd: EMPTY contains no webhooks or records; give captured webhooks with --from, or records with --records',
  ],
  [
    '--from EMPTY --records BAD',
    'depositd: BAD is neither a JSON document nor JSON lines; save a response of the API unchanged',
  ],
])('webhooks profile %s is wrong use: status 2, and a line that names the mend', async (words, message) => {
  const named = { EMPTY: file('empty.jsonl', ''), BAD: file('bad.json', '<html>') }
  const put = (text: string) => text.replace('EMPTY', named.EMPTY).replace('BAD', named.BAD)
  expect(await runCommand(`webhooks profile ${put(words)}`, { DEPOSITD_CONFIG: settings })).toEqual({
    status: 2,
    out: '',
    err: `${put(message)}\n`,
  })
})
