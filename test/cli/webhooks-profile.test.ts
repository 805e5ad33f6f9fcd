import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseProfile } from '../../src/provider/profile/parse-profile.ts'
import { eventOf, lives } from '../provider/infer/lives.ts'
import { mint, usdc } from '../provider/settled-row.ts'
import { runCommand } from '../support/command.ts'
import { temporaryFolderOfFile } from '../support/folder.ts'
import { otherEvent, otherRecord } from '../support/other-service.ts'

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
    "# A profile to start from. It reads 16 of 16 webhooks and 16 of 16 records.
    # What is marked as unsure was guessed: look at each, and at every word of status.

    webhook:
      id: notification.uuid
      kind:
        paths: notification.topic
        words: { TRANSFER_CHANGED: deposit }
      record: payload.transfer
      occurredAt: { paths: notification.sent_ms, as: ms }
    record:
      id: reference
      owner:
        kind:
          paths: beneficiary.class
          words:
            CH: channel # unsure: its deliveries are on networks
            SW: stable_wallet # unsure: its deliveries are on no network
        id: beneficiary.key
      status:
        paths: phase
        words:
          INCOMING: observed
          FINAL: confirmed
          SWAPPING: settling
          BOOKED: settled # unsure: the word is not known; guessed by when it is told
          PAYING_OUT: settling
          DONE: settled
      createdAt: { paths: opened_ms, as: ms }
      occurredAt: { paths: changed_ms, as: ms }
      deposit:
        network: incoming.chain
        address: incoming.wallet
        asset: { paths: incoming.token, presence: nullable, otherwise: native }
        amount: { paths: incoming.qty, as: units }
        transaction: incoming.hash
        index: incoming.position
      settlement:
        network: { paths: outgoing.chain, presence: nullable, otherwise: stable-wallet }
        address: outgoing.wallet
        asset: { paths: outgoing.token, presence: nullable, otherwise: native }
        amount: { paths: outgoing.qty, as: units }
        transaction: { paths: outgoing.hash, absent: [ '' ] }
        fee: { paths: outgoing.commission, as: units }
    networks: { BASE: base, SOL: solana }
    list:
      items: items
      pages: page # unsure: the answer has page; the parameter may be called otherwise
    "
  `)
  expect(parseProfile(out).faults).toEqual([])
})
