import type { LoadedRule, Prometheus, Series } from './prometheus.ts'
import { selectorsOf } from './selectors.ts'

/** A selector that rules read, and how many series it has found during the run. */
export type EvaluatedSelector = { where: string; selector: string; series: number }

/** All rules, once each was evaluated and what they record has values; some have an interval of their own. */
export async function evaluatedRules(prometheus: Prometheus): Promise<LoadedRule[] | null> {
  const rules = await prometheus.rules()
  if (rules.some(({ health }) => health === 'unknown')) return null
  const records = new Set(rules.filter(({ type }) => type === 'recording').map(({ name }) => name))
  for (const record of records) {
    const recorded = await prometheus.query(record)
    const isKnown = recorded.length > 0 && recorded.every(({ samples }) => !Number.isNaN(samples[0]?.[1]))
    if (!isKnown) return null
  }
  return rules
}

/** Looks for every selector of the rules, each once. An alert that is silent must have something to look at. */
export async function evaluateSelectors(
  prometheus: Prometheus,
  rules: readonly LoadedRule[],
): Promise<EvaluatedSelector[]> {
  const selectors = new Set(rules.flatMap(({ query }) => selectorsOf(query)))
  const found: EvaluatedSelector[] = []
  for (const selector of selectors) {
    const [count] = await prometheus.query(`count(last_over_time(${selector}[1h]))`)
    found.push({ where: `rules / ${selector}`, selector, series: count?.samples[0]?.[1] ?? 0 })
  }
  return found
}

/** Every alert that was in that state at any time, with the times in seconds at which it was seen so. */
export async function alertsEver(prometheus: Prometheus, state: 'pending' | 'firing'): Promise<Series[]> {
  return prometheus.query(`ALERTS{alertstate="${state}",alertname!="DepositdWatchdog"}[1h]`)
}
