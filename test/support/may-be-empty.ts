/**
 * What a demonstration shows nothing of, for a reason. It is named as a query is, or by the beginning of that name; an
 * asterisk is any dashboard. What is `byChance` lasts so shortly that it is seen now and then.
 */
export type MayBeEmpty = { where: string; why: string; byChance?: true }

export const mayBeEmpty: readonly MayBeEmpty[] = [
  {
    where: '* / annotation / Reorganisations',
    why: 'no chain changes what was final',
  },
  {
    where: 'accountant / Late journals',
    why: 'nothing arrives of the month that is closed',
  },
  {
    where: 'accountant / Addresses that do not tie',
    why: 'what every address holds is explained',
  },
  ...['delivery', 'api_detection', 'chain_detection', 'finality', 'settlement', 'reconciliation'].map(
    (stage): MayBeEmpty => ({
      where: `rules / depositd_stage_oldest_unnamed_seconds{stage="${stage}"}`,
      why: 'this stage takes a second or two here, and deposits with a mismatch do not count',
      byChance: true,
    }),
  ),
  {
    where: 'rules / depositd_notification_oldest_seconds',
    why: 'no notification waits',
  },
  {
    where: 'rules / depositd_rpc_requests_total{outcome="error"}',
    why: 'no node fails, unless the machine is very busy',
    byChance: true,
  },
  {
    where: 'pipeline / API answer by call, p99',
    why: 'the API is off',
  },
  {
    where: 'pipeline / Events: from the change to the answer, p99',
    why: 'there are no endpoints',
  },
  {
    where: 'chains / Oldest payment not final, or not seen',
    why: 'a payment on these chains is final within a second or two',
    byChance: true,
  },
]

/** The entry that allows a query to find nothing. */
export function allowanceFor(where: string): MayBeEmpty | null {
  return mayBeEmpty.find((one) => isNamed(where, one.where)) ?? null
}

function isNamed(where: string, name: string): boolean {
  const full = name.startsWith('* / ') ? where.replace(/^[^/]+(?= \/ )/, '*') : where
  return full === name || full.startsWith(`${name} / `)
}
