import { z } from 'zod'
import { amountField, assetField, textField, timeField, wordField } from './field-schema.ts'
import { listSchema } from './list-schema.ts'
import { ownersSchema } from './owners-schema.ts'
import { pathSchema } from './path.ts'

/** What an event may be to us: of a deposit, whose record it carries, or nothing that concerns one. */
const eventMeanings = ['deposit', 'ignored'] as const

/** The states of a claim, and `ignored` for a record that tells of no payment yet. */
const statusMeanings = [
  'observed',
  'confirmed',
  'settling',
  'settled',
  'held',
  'refunded',
  'failed',
  'ignored',
] as const

const webhook = z.strictObject({
  /** The sender's id of the event, where the signature carries none. */
  id: textField('optional').optional(),
  /** Without it, every event is of a deposit. A word that is not listed is an `unknown_event`, unless told otherwise. */
  kind: wordField(eventMeanings, 'required').optional(),
  unlisted: z.enum(['unknown_event', 'ignored']).default('unknown_event'),
  /** Where the record is in the payload; without it, the payload is the record. */
  record: pathSchema.optional(),
  /** When the event came to be; without it, or where it is absent, the time of the record counts. */
  occurredAt: timeField('required').optional(),
})

const place = { network: textField('required').optional(), asset: assetField('required') }

const deposit = z.strictObject({
  ...place,
  address: textField('required'),
  amount: amountField('required'),
  transaction: textField('optional').optional(),
  index: textField('optional').optional(),
})

/** `network` leads to, or `networks` translates into, `stable-wallet` where a StableWallet is credited. */
const settlement = z.strictObject({
  ...place,
  /** The recipient, or the wallet's id. Where it is absent, nothing is said of a delivery. */
  address: textField('required'),
  amount: amountField('optional').optional(),
  transaction: textField('optional').optional(),
  /** In the asset delivered. */
  fee: amountField('optional').optional(),
})

/** How the payment went back: whole, in its asset and on its network. */
const refund = z.strictObject({ transaction: textField('optional') })

const record = z.strictObject({
  id: textField('required'),
  /** Only records of which each path leads to one of its words are of deposits; the others are passed over. */
  only: z.record(pathSchema, z.array(z.string()).min(1)).default({}),
  /** Without it, the owner is whoever has the address in the address book. */
  owner: z
    .strictObject({ kind: wordField(['channel', 'stable_wallet'], 'required'), id: textField('required') })
    .optional(),
  status: wordField(statusMeanings, 'required'),
  /** When the record was made: lists are read back by it. */
  createdAt: timeField('optional').optional(),
  /** When it came to be as it is; where that is absent, the time of receipt counts. */
  occurredAt: timeField('required').optional(),
  deposit,
  settlement: settlement.optional(),
  refund: refund.optional(),
})

/** How a service's webhooks and records are read. */
export const profileSchema = z.strictObject({
  webhook: webhook.prefault({}),
  record,
  /** Their word for a network to ours. One that is not listed is taken as it is. */
  networks: z.record(z.string(), z.string().min(1)).default({}),
  /** Their word for an asset to `network/symbol` or `network/contract` of the settings, or to a symbol or contract. */
  assets: z.record(z.string(), z.string().min(1)).default({}),
  /** How deposits are listed. */
  list: listSchema.prefault({}),
  owners: ownersSchema.prefault({ channels: {}, wallets: {} }),
})

export type Profile = z.output<typeof profileSchema>
