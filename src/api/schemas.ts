import { z } from 'zod'
import { eventTypes } from '../core/event.ts'
import { matrixCells } from '../core/judging/matrix.ts'
import { depositStates } from '../core/judging/reconcile.ts'
import { pageOf } from '../http/pages.ts'

export const time = z.iso.datetime()
const idText = z.string().regex(/^[1-9]\d*$/)

/** Texts, because JSON numbers lose precision. */
const units = z.string().regex(/^-?\d+(\.\d+)?$/)
const baseUnits = z.string().regex(/^-?\d+$/)

export const money = z
  .strictObject({
    amount: units.nullable(),
    amount_base: baseUnits,
    asset_symbol: z.string().nullable(),
    asset: z.string(),
  })
  .meta({
    id: 'Money',
    description:
      '`amount` in units of the asset, null if its decimals are unknown; `amount_base` in base units. `asset` is network/contract, network/mint or network/native; a symbol is only a label.',
  })

const word = z.string()
const words = word.nullable()

const leg = z
  .strictObject({ network: words, address: words, tx: words, amount: money.nullable() })
  .meta({ id: 'Leg' })

const credit = z
  .strictObject({
    safe: z.boolean(),
    amount: money.nullable(),
    since: time.nullable(),
    reason: words,
    finality: z.strictObject({ height: word, block_hash: word, final_at: time }).nullable(),
    proof: idText.nullable(),
  })
  .meta({
    id: 'Credit',
    description:
      'Whether the owner may be credited, and with what: `amount` is what was booked for the payment, before fees and conversion, and `proof` the journal that books it. Once recorded, it is withdrawn only if that journal is reversed, or the payment is refunded or written off at the expense of its owner; `reason` then says why. All but `safe` is null if it was never safe.',
  })

const owner = z.strictObject({ kind: z.enum(['channel', 'stable_wallet']), id: word })

export const listedDeposit = z
  .strictObject({
    id: idText,
    service: word,
    service_id: words,
    state: z.enum(depositStates),
    owner: owner.nullable(),
    deposit: leg,
    settlement: leg.nullable(),
    fee: money.nullable(),
    credit,
    deposited_at: time.nullable(),
    final_at: time.nullable(),
    settled_at: time.nullable(),
    reconciled_at: time.nullable(),
    links: z.strictObject({
      self: word,
      evidence: word,
      mismatches: word,
      statement: words,
      explorer: z.strictObject({ deposit: words, settlement: words }),
    }),
  })
  .meta({ id: 'Deposit' })

const severity = z.enum(['severe', 'warning', 'info'])
const mismatchStatus = z.enum(['open', 'snoozed', 'resolved', 'cleared'])

export const listedMismatch = z
  .strictObject({
    id: idText,
    deposit_id: idText.nullable(),
    service: words,
    network: words,
    kind: word,
    severity,
    status: mismatchStatus,
    amount: money.nullable(),
    loss: money.nullable(),
    assigned_to: words,
    opened_at: time,
    act_by: time.nullable(),
    resolved_at: time.nullable(),
    cleared_at: time.nullable(),
    subject: words,
    says: words,
    detail: z.record(z.string(), z.string()).nullable(),
    amounts: z.record(z.string(), money).nullable(),
    links: z.strictObject({ self: word, deposit: words }),
  })
  .meta({
    id: 'Mismatch',
    description:
      'What it says may name other owners: `subject`, `says`, `detail` and `amounts` are null for a token that is limited to owners.',
  })

const cell = z.enum(matrixCells)
const cells = z.strictObject({ webhook: cell, api: cell, chain: cell })

const transfer = z.strictObject({ debit: word, credit: word, amount: money })
const journal = z.strictObject({
  id: idText,
  posting_key: word,
  event_at: time,
  transfers: z.array(transfer),
})

export const shownDeposit = listedDeposit
  .extend({
    matrix: z.strictObject({ deposit: cells, settlement: cells }),
    mismatches: z.array(listedMismatch),
    journals: z.array(journal),
    timeline: z.array(z.strictObject({ at: time, source: word, says: word })),
    timeline_complete: z.boolean(),
    as_of: time,
  })
  .meta({
    id: 'DepositDetail',
    description:
      '`timeline` is the evidence, the oldest first. It is not complete if there is too much of it, or if it is shared with a deposit that the token may not see.',
  })

export const shownMismatch = listedMismatch
  .extend({
    means: word,
    next: word,
    history: z.array(z.strictObject({ at: time, actor: word, action: word, text: words })).nullable(),
    as_of: time,
  })
  .meta({ id: 'MismatchDetail' })

const hash = z.string().regex(/^[0-9a-f]{64}$/)

export const shownJournal = journal
  .extend({
    kind: word,
    deposit_id: idText.nullable(),
    period: word,
    recorded_at: time,
    reverses: idText.nullable(),
    reversed_by: idText.nullable(),
    leaf_hash: hash,
    links: z.strictObject({ self: word, proof: word, deposit: words }),
    as_of: time,
  })
  .meta({
    id: 'JournalDetail',
    description:
      '`leaf_hash` is that of the journal in the log of all sealed rows: SHA-256, in hexadecimal, known before it is sealed.',
  })

export const journalProof = z
  .strictObject({
    journal_id: idText,
    leaf_hash: hash,
    index: z.int(),
    size: z.int(),
    leaf: word,
    proof: word,
    as_of: time,
  })
  .meta({
    id: 'JournalProof',
    description:
      '`proof` and `leaf` are the files `proof` and `proof.leaf` of `bin/depositd ledger prove`. The journal is row `index`, from 0, of the `size` rows that the newest checkpoint covers.',
  })

export const listedEvent = z
  .strictObject({
    sequence: idText,
    id: z.uuid(),
    type: z.enum(eventTypes),
    deposit_id: idText.nullable(),
    previous: idText.nullable(),
    service: words,
    owner: owner.nullable(),
    at: time,
    data: z.record(z.string(), z.unknown()),
    journal: z.strictObject({ id: idText, leaf_hash: hash }).nullable(),
    links: z.strictObject({ deposit: words, mismatch: words, journal: words, proof: words }),
  })
  .meta({
    id: 'Event',
    description:
      '`previous` is the sequence of the event before it about the same deposit. `journal`, of `deposit.credit_safe` and `deposit.reconciled`, is the journal that proves it. `data` has neither `subject` nor `detail`, nor `account` of another owner, for a token that is limited to owners.',
  })
/** Of a comment or a reason, which are stored permanently. */
export const caseText = z.string().trim().min(1).max(2000)

export const caseAct = z
  .strictObject({
    id: idText,
    mismatch_id: idText,
    at: time,
    actor: word,
    action: z.enum(['commented', 'assigned', 'snoozed', 'resolved']),
    text: words,
    links: z.strictObject({ mismatch: word }),
  })
  .meta({ id: 'CaseAct', description: 'An entry of the history of a mismatch. `actor` is `token:NAME`.' })

export const statementLine = z
  .strictObject({
    line: z.enum(['opening', 'entry', 'closing']),
    at: time,
    recorded_at: time.nullable(),
    kind: words,
    journal_id: idText.nullable(),
    deposit_id: idText.nullable(),
    account: word,
    amount: money.nullable(),
    balance: money,
  })
  .meta({ id: 'StatementLine' })

export const accountBalance = z
  .strictObject({ account: word, balance: money })
  .meta({ id: 'AccountBalance', description: 'Debit balances are positive.' })

export const trialBalanceLine = z
  .strictObject({ account: word, code: words, debit: money, credit: money, balance: money })
  .meta({ id: 'TrialBalanceLine' })

export const listedService = z
  .strictObject({ name: word, is_paused: z.boolean(), read_at: time.nullable() })
  .meta({ id: 'Service' })

export const listedNetwork = z
  .strictObject({
    name: word,
    family: z.enum(['evm', 'solana']),
    chain_id: z.int().nullable(),
    assets: z.array(z.strictObject({ asset: word, symbol: word, decimals: z.int() })),
    explorer: words,
    read_at: time.nullable(),
  })
  .meta({ id: 'Network' })

const healthProblem = z.strictObject({ part: word, problem: word })

export const healthReport = z
  .strictObject({
    ready: z.boolean(),
    unready: z.array(healthProblem),
    warnings: z.array(healthProblem),
    fine: z.array(word),
    as_of: time,
  })
  .meta({ id: 'Health' })

/** A page, and the time of the snapshot that it was read from. */
export function readPageSchema<Item extends z.ZodType>(item: Item) {
  return pageOf(item).extend({ as_of: time })
}

/** A list that is never cut. */
export function readListSchema<Item extends z.ZodType>(item: Item) {
  return z.strictObject({ data: z.array(item), as_of: time })
}

/** In one line. */
export const wordText = z
  .string()
  .min(1)
  .max(200)
  .refine((text) => !/\p{C}/u.test(text), { error: 'must be text in one line' })

/** Of an event, or 0 for before the first one. */
export const sequenceText = z.string().regex(/^(?:0|[1-9]\d{0,17})$/, { error: 'must be a number from 0' })

export const waitText = z.string().regex(/^(?:[1-9]|[1-5]\d|60)s$/, { error: 'must be from 1s to 60s' })

/** 0 without one. */
export function waitMsIn(text: string | undefined): number {
  return text === undefined ? 0 : Number(text.slice(0, -1)) * 1000
}

export const numberText = z.string().regex(/^[1-9]\d{0,17}$/, { error: 'must be a number from 1' })

export const numberedPath = z.strictObject({ id: numberText })
