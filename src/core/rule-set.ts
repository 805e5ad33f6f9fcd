import { type Rules, rulesOf } from './decide.ts'
import { defaultService } from './evidence.ts'
import type { SecondPersonLimits } from './second-person.ts'

/** What people approve as the policy of an installation. */
export type RuleSet = Rules & {
  /** As `service/network`: there, the service names its senders, so what its deposit addresses send is checked. Absent: the default service, with all senders. */
  checkedOutflows?: ReadonlySet<string>
  /** Absent: every decision about money takes two people. */
  secondPersonAbove?: SecondPersonLimits
  /** Whether the next change of the rules needs a second person. Absent: it does. */
  policySecondPerson?: boolean
}

export function ruleSetOf({
  secondPersonAbove = new Map(),
  policySecondPerson = true,
  checkedOutflows,
  ...settings
}: RuleSet): Required<RuleSet> {
  const { contras = [], ...rules } = rulesOf(settings)
  const ofDefault = new Set([...rules.senders].map((name) => `${defaultService}/${name.split('/')[0]}`))
  return {
    ...rules,
    contras,
    checkedOutflows: checkedOutflows ?? ofDefault,
    secondPersonAbove,
    policySecondPerson,
  }
}

/** The order of names and senders makes no difference. */
export function writeRuleSet(rules: RuleSet): string {
  const { secondPersonAbove, ...others } = ruleSetOf(rules)
  return JSON.stringify({ ...others, secondPersonAbove: Object.fromEntries(secondPersonAbove) }, inOrder)
}

function inOrder(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Set) return [...(value as Set<string>)].toSorted()
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** @param text as `writeRuleSet` returns it */
export function readRuleSet(text: string): Required<RuleSet> {
  const { senders, checkedOutflows, secondPersonAbove, ...rules } = JSON.parse(
    text,
    revive,
  ) as Required<RuleSet> & {
    senders: string[]
    checkedOutflows: string[]
    secondPersonAbove: Record<string, string>
  }
  return {
    ...rules,
    senders: new Set(senders),
    checkedOutflows: new Set(checkedOutflows),
    secondPersonAbove: new Map(Object.entries(secondPersonAbove)),
  }
}

/** One setting that differs. Null: the rule set does not have it. Amounts are in base units. */
export type RuleChange = { setting: string; before: string | null; after: string | null }

/** Between two texts of `writeRuleSet`. */
export function ruleChanges(before: string | null, after: string): RuleChange[] {
  const [earlier, later] = [before, after].map((text) => new Map(leavesOf('', JSON.parse(text ?? '{}'))))
  const settings = new Set([...(earlier?.keys() ?? []), ...(later?.keys() ?? [])])
  return [...settings]
    .map((setting) => ({
      setting,
      before: earlier?.get(setting) ?? null,
      after: later?.get(setting) ?? null,
    }))
    .filter((change) => change.before !== change.after)
}

/** An entry of a list has its number, and lists of plain values are one leaf: `routes[0].policy.required`. */
function leavesOf(path: string, value: unknown): [string, string][] {
  if (typeof value !== 'object' || value === null) return [[path, String(value)]]
  const isList = Array.isArray(value)
  if (isList && value.every((one) => typeof one !== 'object')) return [[path, value.join(', ')]]
  const parts: [string, unknown][] = Object.entries(value)
  return parts.flatMap(([name, part]) =>
    leavesOf(isList ? `${path}[${name}]` : `${path}${path === '' ? '' : '.'}${name}`, part),
  )
}

/** Amounts, in base units. A limit of one person is in units of the asset, and stays text. */
const amountNames: ReadonlySet<string> = new Set(['amount', 'minimum', 'paid', 'delivered'])

function revive(name: string, value: unknown): unknown {
  return amountNames.has(name) && typeof value === 'string' ? BigInt(value) : value
}
