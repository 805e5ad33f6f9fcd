import { columnsOf, hasForm, isObject, valueAt } from '../infer/columns.ts'
import type { Probe, ProbedAnswer } from './probe.ts'

/** A list call, with an answer that has records. */
export type FoundCall = { path: string; answer: ProbedAnswer }

const prefixes = ['/v1', '', '/api', '/api/v1', '/v2', '/api/v2', '/rest/v1']

const depositNames = [
  'proxies/deposits',
  'deposits',
  'transfers/incoming',
  'transfers',
  'transactions',
  'payins',
  'pay-ins',
  'payments',
  'incoming',
  'incoming-transfers',
  'crypto/deposits',
  'deposit-records',
  'operations',
]

const ownerNames = [
  'channels',
  'stable-wallets',
  'wallets',
  'addresses',
  'deposit-addresses',
  'accounts',
  'vaults',
  'routes',
  'forwarders',
  'customers',
  'beneficiaries',
  'proxies',
]

/** Specifications are often published beside the API. */
const specifications = [
  ...prefixes.flatMap((prefix) => [`${prefix}/openapi.json`, `${prefix}/swagger.json`]),
  '/api-docs',
]

/** The paths of lists that the service's own specification names; empty if it publishes none. */
export async function publishedPaths(probe: Probe): Promise<string[]> {
  for (const path of specifications) {
    const paths = valueAt((await probe(path))?.body, 'paths')
    if (!isObject(paths)) continue
    const lists = Object.entries(paths).flatMap(([one, methods]) =>
      isObject(methods) && 'get' in methods && !one.includes('{') ? [one] : [],
    )
    return lists
      .toSorted((one, other) => Number(listForm.test(other)) - Number(listForm.test(one)))
      .slice(0, pathsMax)
  }
  return []
}

const listForm =
  /deposit|transfer|transaction|pay|incoming|movement|channel|wallet|address|account|vault|route|customer/i
/** Of hundreds of calls, those with telling names are tried. */
const pathsMax = 80

/**
 * The list with the most transactions and addresses in its records. Deposits must exist already.
 * @returns null if no known path answers with such a list
 */
export async function findDepositList(
  probe: Probe,
  published: readonly string[],
): Promise<(FoundCall & { others: readonly string[] }) | null> {
  const guessed = prefixes.flatMap((prefix) => depositNames.map((name) => `${prefix}/${name}`))
  const found: (FoundCall & { score: number })[] = []
  for (const path of new Set([...published, ...guessed])) {
    const answer = await probe(path)
    const score = transfersIn(answer)
    if (answer !== null && score > 0) found.push({ path, answer, score })
    // A guess that fits needs no further guesses; published paths are compared.
    if (found.length > 0 && !published.includes(path)) break
  }
  const [best, ...others] = found.toSorted((one, other) => other.score - one.score)
  return best === undefined ? null : { ...best, others: others.map(({ path }) => path) }
}

function transfersIn(answer: ProbedAnswer | null): number {
  const columns = columnsOf(answer?.listing?.records ?? [])
  const transactions = columns.filter((column) => hasForm(column, 'transaction')).length
  const addresses = columns.filter((column) => hasForm(column, 'address')).length
  return transactions === 0 || addresses === 0 ? 0 : 2 * transactions + addresses
}

/** Lists without transactions whose records hold addresses, beside the list of deposits. */
export async function findAddressLists(
  probe: Probe,
  { list, published }: { list: string; published: readonly string[] },
): Promise<FoundCall[]> {
  const prefix = list.slice(0, list.lastIndexOf('/'))
  const near = [prefix, prefix.slice(0, prefix.lastIndexOf('/')), ...prefixes]
  const guessed = near.flatMap((one) => ownerNames.map((name) => `${one}/${name}`))
  const found: FoundCall[] = []
  for (const path of new Set([...published, ...guessed])) {
    if (path === list) continue
    const answer = await probe(path)
    if (answer !== null && isOfAddresses(answer)) found.push({ path, answer })
  }
  return found
}

function isOfAddresses({ listing }: ProbedAnswer): boolean {
  const columns = columnsOf(listing?.records ?? [])
  if (columns.some((column) => hasForm(column, 'transaction'))) return false
  return columns.some((column) => hasForm(column, 'address'))
}
