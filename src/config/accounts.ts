import { z } from 'zod'
import {
  type AccountLabel,
  builtInAccounts,
  isAccount,
  matchesPattern,
  patternsOverlap,
} from '../core/chart.ts'
import { type ContraRule, deliveryEffects, feeBearers } from '../core/owed.ts'
import type { CostBasis } from '../ledger/lots.ts'
import { type AssetCatalog, covers, patternOfMatch } from './policies.ts'
import { routeMatch } from './policy-schema.ts'
import { type Refuse, refuseAt } from './yaml-file.ts'

const accountName = z.string().max(300)
const label = z
  .string('must be text in quotes, like "1100"')
  .regex(/^[^\s\p{C}]([^\p{C}]{0,98}[^\s\p{C}])?$/u, 'must have 1 to 100 characters')

export const accountsSection = z
  .strictObject({
    /** Only people book to these. */
    own: z.array(accountName).default([]),
    /** The first match applies. */
    contra: z
      .array(
        z.strictObject({
          match: routeMatch.optional(),
          account: accountName,
          delivery: z.enum(deliveryEffects).optional(),
          fee: z.enum(feeBearers).optional(),
        }),
      )
      .default([]),
    /** Patterns of accounts whose balance must not be on the other side than usual. */
    guards: z.array(accountName).default([]),
    /** The first match applies. */
    labels: z
      .array(
        z
          .strictObject({ account: accountName, code: label.optional(), name: label.optional() })
          .refine(({ code, name }) => code !== undefined || name !== undefined, 'needs a code or a name'),
      )
      .default([]),
  })
  .prefault({})

type AccountsSection = z.output<typeof accountsSection>

export type Accounts = {
  contras: ContraRule[]
  known: string[]
  guards: string[]
  labels: AccountLabel[]
}

/** If it refuses anything, the result is unusable. */
export function readAccounts(section: AccountsSection, world: AssetCatalog, refuse: Refuse): Accounts {
  const builtIn = builtInAccounts(world.networks.map(({ name }) => name))
  for (const [place, account] of section.own.entries())
    checkOwn(account, builtIn, refuseAt(refuse, 'own', place))
  const contras = section.contra.map((entry, place) =>
    contraOf(entry, { world, builtIn }, refuseAt(refuse, 'contra', place)),
  )
  refuseUnreached(contras, refuse)
  const known = [
    ...builtIn,
    ...section.own,
    ...contras.map(({ account }) => account.replaceAll(placeholder, '*')),
  ]
  const labels = section.labels.map(({ account, code = null, name = null }) => ({
    pattern: account,
    code,
    name,
  }))
  refuseIdleLabels(labels, known, refuse)
  for (const [place, guard] of section.guards.entries())
    checkGuard(guard, known, refuseAt(refuse, 'guards', place))
  return { contras, known, guards: section.guards, labels }
}

const shape =
  'must be an account like assets:bank:main, below assets, liabilities, equity, income or expenses'
const taken = 'is an account that depositd books to by itself'

function checkOwn(account: string, builtIn: readonly string[], refuse: Refuse): void {
  if (!isAccount(account) || /[*{}]/.test(account)) refuse([], shape)
  else if (builtIn.some((pattern) => patternsOverlap(pattern, account))) refuse([], taken)
}

function checkGuard(guard: string, known: readonly string[], refuse: Refuse): void {
  if (!/^(assets|liabilities|equity|income|expenses):/.test(guard))
    refuse([], 'must be accounts below assets, liabilities, equity, income or expenses, like liabilities:*')
  else if (!known.some((one) => patternsOverlap(one, guard)))
    refuse([], 'must fit an account of docs/accounting.md, accounts.own or accounts.contra')
}

export type ValuationSettings = CostBasis & {
  currency: string
  maxAgeMs: number
  prices: readonly string[]
  conversionRates: boolean
}

export function valuationOf({
  maxAge: maxAgeMs,
  ...rest
}: Omit<ValuationSettings, 'maxAgeMs'> & { maxAge: number }): ValuationSettings {
  return { ...rest, maxAgeMs }
}

/** Of the setting `valuation.own`. */
export function checkOwnFunds(pattern: string, known: readonly string[], refuse: Refuse): void {
  if (!pattern.startsWith('assets:')) refuse([], 'must be accounts below assets, like assets:treasury:*')
  else if (!known.some((one) => patternsOverlap(one, pattern)))
    refuse([], 'must fit an account of docs/accounting.md or accounts.own')
}

const usual: Readonly<Record<string, string>> = {
  liability: 'liabilities:deposits:{kind}:{id}',
  income: 'income:deposits:{kind}:{id}',
  own_funds: 'equity:own_funds:{kind}:{id}',
}
const placeholder = /\{(kind|id)\}/g

type ContraEntry = AccountsSection['contra'][number]
type ContraContext = { world: AssetCatalog; builtIn: readonly string[] }

function contraOf(
  { match, account: words, ...effects }: ContraEntry,
  { world, builtIn }: ContraContext,
  refuse: Refuse,
): ContraRule {
  const pattern = match === undefined ? {} : patternOfMatch(match, world, refuse)
  if (match?.asset.out !== undefined)
    refuse(
      ['match', 'asset', 'out'],
      'is known only once the deposit is delivered, which is after it is booked',
    )
  const account = usual[words] ?? words
  if (usual[words] === undefined) checkContra(account, builtIn, refuse)
  checkEffects(account, effects, refuse)
  return { pattern, account, ...effects }
}

function checkContra(account: string, builtIn: readonly string[], refuse: Refuse): void {
  const plain = account.replaceAll(placeholder, 'x')
  if (!isAccount(plain) || /[*{}]/.test(plain) || !/^(liabilities|income|equity):/.test(plain))
    refuse(
      ['account'],
      'must be liability, income, own_funds or an account below liabilities, income or equity, in which {kind} and {id} stand for the owner',
    )
  else if (builtIn.some((one) => patternsOverlap(one, account.replaceAll(placeholder, '*'))))
    refuse(['account'], taken)
}

/** Nothing is owed for income and own funds. */
function checkEffects(
  account: string,
  { delivery, fee }: Pick<ContraEntry, 'delivery' | 'fee'>,
  refuse: Refuse,
): void {
  const isOwed = account.startsWith('liabilities:')
  if (!isOwed && delivery !== undefined && delivery !== 'stays')
    refuse(['delivery'], `${delivery}: only for a liability; nothing is owed for income and own funds`)
  if (fee === 'customer' && (!isOwed || delivery === 'stays'))
    refuse(['fee'], 'customer: only for a liability that moves into the asset delivered')
}

function refuseUnreached(contras: readonly ContraRule[], refuse: Refuse): void {
  for (const [place, { pattern }] of contras.entries()) {
    const covering = contras.slice(0, place).findIndex((earlier) => covers(earlier.pattern, pattern))
    if (covering !== -1)
      refuse(['contra', place, 'match'], `is never reached: accounts.contra[${covering}] fits all of it`)
  }
}

/** A label that matches no account is a typo. */
function refuseIdleLabels(labels: readonly AccountLabel[], known: readonly string[], refuse: Refuse): void {
  for (const [place, { pattern }] of labels.entries()) {
    const covering = labels.slice(0, place).findIndex((earlier) => matchesPattern(pattern, earlier.pattern))
    const path = ['labels', place, 'account']
    if (!known.some((one) => patternsOverlap(one, pattern)))
      refuse(path, 'must fit an account of docs/accounting.md, accounts.own or accounts.contra')
    else if (covering !== -1) refuse(path, `is never reached: accounts.labels[${covering}] fits all of it`)
  }
}
