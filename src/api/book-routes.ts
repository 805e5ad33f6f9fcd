import { z } from 'zod'
import { serviceOf } from '../core/evidence.ts'
import { parseTime } from '../core/time.ts'
import { pageQuery, readPageOf } from '../http/pages.ts'
import { timeText } from '../http/read-request.ts'
import {
  type AccountBalanceLine,
  isOwner,
  listBalances,
  readStatement,
  type StatedLine,
  type TrialBalanceLine,
  trialBalance,
} from '../store/ledger/accounts.ts'
import { isoOf, moneyOf } from './deposit-documents.ts'
import { notFound, refusal } from './problem.ts'
import { defineRoute, type ReadApi } from './route.ts'
import {
  accountBalance,
  type money,
  readPageSchema,
  statementLine,
  time,
  trialBalanceLine,
  wordText,
} from './schemas.ts'

const digits = z.string().regex(/^\d{1,18}$/)

/** As Postgres prints it: `2026-01-31 10:00:00.5+00`. */
const postgresTime = z
  .string()
  .refine((text) => parseTime(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00')) !== null)

const statementPaging = {
  list: 'statement',
  key: z.tuple([z.string(), z.string(), z.enum(['1', '2', '3']), postgresTime, digits, digits]),
  keyOf: ({ key }: StatedLine) => key,
}

const ever = '1970-01-01T00:00:00Z'

const statementQuery = pageQuery.extend({
  since: timeText.describe('Entries of events at this time or later; by default all.').optional(),
  until: timeText
    .describe('Entries of events before this time; by default now. With `cursor`, that of the first page.')
    .optional(),
})

export type StatementQuery = z.output<typeof statementQuery>

const statementPage = readPageSchema(statementLine).extend({ owner: z.string(), since: time, until: time })

export type StatementPage = z.output<typeof statementPage>

const statementRoute = defineRoute({
  method: 'get',
  path: '/v1/owners/{id}/statement',
  scope: 'read_books',
  summary: 'Show the statement of an owner',
  description:
    'For each account and asset of a channel or StableWallet: the opening, the entries and the closing. The id is that of the owner, or `channel:ID` or `stable_wallet:ID`.',
  parameters: z.strictObject({ id: wordText }),
  query: statementQuery,
  status: 200,
  answer: statementPage,
  refusals: ['not_found', 'cursor_invalid'],
  run: async (api, { parameters: { id: owner }, query: { since = ever, until, limit, cursor } }) => {
    if (cursor !== undefined && until === undefined) throw endMissing()
    const before = new Date(until ?? api.asOf)
    const from = new Date(since)
    const wish = { owner, from: from.toISOString(), before: before.toISOString() }
    const { page, next_cursor } = await readPageOf(statementPaging, { limit, cursor }, (range) =>
      api.read(async (tx) => {
        if (!isSeen(api, owner) || !(await isOwner(tx, owner))) throw notFound('owner', owner)
        return readStatement(tx, { ...wish, ...range })
      }),
    )
    return {
      data: page.map(statementDocument),
      next_cursor,
      owner,
      since: from.toISOString(),
      until: before.toISOString(),
      as_of: api.asOf.toISOString(),
    }
  },
})

/** The end of now is another one for each page, and would be listed on each. */
function endMissing() {
  const detail = 'is needed with a cursor: send that of the first page'
  return refusal('cursor_invalid', `until ${detail}`, { errors: [{ parameter: 'until', detail }] })
}

function isSeen({ token: { services, owners } }: ReadApi, owner: string): boolean {
  if (owners !== null && !owners.includes(owner)) return false
  return services === null || services.includes(serviceOf(owner.replace(/^(?:channel|stable_wallet):/, '')))
}

function statementDocument({
  line,
  event_at: at,
  recorded_at: recordedAt,
  kind,
  account,
  ...row
}: StatedLine): z.output<typeof statementLine> {
  const { asset_symbol: symbol, asset, amount, amount_base: base } = row
  return {
    line,
    at: at.toISOString(),
    recorded_at: isoOf(recordedAt),
    kind,
    journal_id: row.journal_id?.toString() ?? null,
    deposit_id: row.deposit_id?.toString() ?? null,
    account,
    amount: moneyOf({ amount, base, symbol, asset }),
    balance: bookedMoney(row, row.balance, row.balance_base),
  }
}

type AssetColumns = { asset: string; asset_symbol: string }

function bookedMoney(
  { asset, asset_symbol }: AssetColumns,
  amount: string,
  base: string,
): z.output<typeof money> {
  return { amount, amount_base: base, asset_symbol, asset }
}

const lineKey = z.tuple([z.string(), z.string()]).transform(([asset, account]) => ({ asset, account }))

const keyOfLine = ({ asset, account }: AccountBalanceLine | TrialBalanceLine) => [asset, account]

const balancesRoute = defineRoute({
  method: 'get',
  path: '/v1/balances',
  scope: 'read_books',
  summary: 'List the balances of all accounts',
  description:
    'Over all that was ever booked, for each account and asset. Debit balances are positive. Refused to a token that is limited to owners or services: `/v1/owners/{id}/statement` has the balances of an owner.',
  query: pageQuery,
  status: 200,
  answer: readPageSchema(accountBalance),
  refusals: ['cursor_invalid', 'token_limited'],
  run: async (api, { query }) => {
    refuseLimited(api)
    const form = { list: 'balances', key: lineKey, keyOf: keyOfLine }
    const { page, next_cursor } = await readPageOf(form, query, (range) =>
      api.read((tx) => listBalances(tx, range)),
    )
    const data = page.map((line) => ({
      account: line.account,
      balance: bookedMoney(line, line.balance, line.balance_base),
    }))
    return { data, next_cursor, as_of: api.asOf.toISOString() }
  },
})

function refuseLimited({ token: { services, owners } }: ReadApi): void {
  if (services === null && owners === null) return
  throw refusal('token_limited', 'this is of all owners and services, and the token is limited to some')
}

const trialBalanceQuery = pageQuery.extend({
  period: z
    .string()
    .regex(/^(?:19[7-9]|20\d)\d-(?:0[1-9]|1[0-2])$/, { error: 'must be a month like 2026-01' })
    .describe('A month, with all months before it.')
    .optional(),
  as_of: timeText.describe('Only events until this time.').optional(),
  recorded_as_of: timeText.describe('Only what was recorded until this time.').optional(),
})

export type TrialBalanceQuery = z.output<typeof trialBalanceQuery>

const trialBalancePage = readPageSchema(trialBalanceLine).extend({
  totals: z.array(trialBalanceLine.omit({ account: true, code: true })),
  balanced: z.boolean(),
})

export type TrialBalancePage = z.output<typeof trialBalancePage>

const trialBalanceRoute = defineRoute({
  method: 'get',
  path: '/v1/trial-balance',
  scope: 'read_books',
  summary: 'Show the trial balance',
  description:
    'Debits, credits and balance of each account and asset, with the totals of each asset. Refused to a token that is limited to owners or services.',
  query: trialBalanceQuery,
  status: 200,
  answer: trialBalancePage,
  refusals: ['cursor_invalid', 'token_limited'],
  run: async (
    api,
    { query: { period = null, as_of: asOf = null, recorded_as_of: recorded, limit, cursor } },
  ) => {
    refuseLimited(api)
    const moments = { period, asOf, recordedAsOf: recorded ?? null }
    const form = { list: 'trial-balance', key: lineKey, keyOf: keyOfLine }
    let totals: readonly TrialBalanceLine[] = []
    const { page, next_cursor } = await readPageOf(form, { limit, cursor }, async (range) => {
      const read = await api.read((tx) => trialBalance(tx, moments, range))
      totals = read.totals
      return read.lines
    })
    return {
      data: page.map((line) => ({ account: line.account, code: line.code, ...sidesOf(line) })),
      next_cursor,
      totals: totals.map(sidesOf),
      balanced: totals.every(({ debit, credit }) => debit === credit),
      as_of: new Date(asOf ?? api.asOf).toISOString(),
    }
  },
})

function sidesOf(line: TrialBalanceLine) {
  return {
    debit: bookedMoney(line, line.debit, line.debit_base),
    credit: bookedMoney(line, line.credit, line.credit_base),
    balance: bookedMoney(line, line.balance, line.balance_base),
  }
}

export const bookRoutes = [statementRoute, balancesRoute, trialBalanceRoute]
