import { expect, test } from 'vitest'
import { decide } from '../../src/core/decide.ts'
import { explainAll } from '../../src/core/explaining/explain.ts'
import { groupOf } from '../support/any-evidence.ts'
import { bookedCases } from '../support/booked-cases.ts'
import { type DecisionCase, decisionCases, rules } from '../support/decision-cases.ts'
import { decisionText, reasonLines } from '../support/decision-text.ts'
import { deliveryCases } from '../support/delivery-cases.ts'
import { at } from '../support/evidence.ts'
import { matchingCases } from '../support/matching-cases.ts'
import { searchCases } from '../support/search-cases.ts'
import { statusCases } from '../support/status-cases.ts'

/**
 * If a change alters a decision on purpose, write the files again with
 * `npx vitest run test/core/decisions.test.ts --update`, and read what differs.
 */

const cases = Object.entries({
  ...decisionCases,
  ...matchingCases,
  ...statusCases,
  ...deliveryCases,
  ...searchCases,
  ...bookedCases,
})

function decideCase({ evidence, minute = 600, by = {}, ...group }: DecisionCase) {
  return decide({ ...groupOf(evidence), ...group }, { ...rules, ...by }, at(minute))
}

function reasonsOf(one: DecisionCase): string[] {
  const stored = one.evidence.map((observation, place) => ({ inboxId: BigInt(place + 1), observation }))
  return explainAll(decideCase(one).deposits, stored, { ...rules, ...one.by }).flatMap(reasonLines)
}

const title = (name: string, { minute = 600 }: DecisionCase) => `## ${name}, at minute ${minute}`

test('the decisions are those of the examples', async () => {
  const shown = cases.map(([name, one]) => `${title(name, one)}\n${decisionText(decideCase(one))}\n`)
  await expect(shown.join('\n')).toMatchFileSnapshot('decisions.txt')
})

test('the reasons are those of the examples, each with what no earlier one has', async () => {
  const known = new Set<string>()
  const shown = cases.flatMap(([name, one]) => {
    const added = reasonsOf(one).filter((line) => !known.has(line))
    for (const line of added) known.add(line)
    return added.length === 0 ? [] : [[title(name, one), ...added, ''].join('\n')]
  })
  await expect(shown.join('\n')).toMatchFileSnapshot('reasons.txt')
})

test.each(cases)('%s: the order of the evidence does not matter', (_name, one) => {
  const reversed = { ...one, evidence: one.evidence.toReversed() }
  expect(decisionText(decideCase(reversed))).toBe(decisionText(decideCase(one)))
})
