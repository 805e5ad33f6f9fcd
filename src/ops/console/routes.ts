import { missing, numberOf, oneOf, readQuery, shortText } from './asked.ts'
import { depositPage } from './deposit-page.ts'
import { depositsPage, depositsWish, foundPage } from './deposits-page.ts'
import { ledgerPage } from './ledger-page.ts'
import { mismatchPage } from './mismatch-page.ts'
import { mismatchesPage, mismatchesWish } from './mismatches-page.ts'
import { overviewPage } from './overview-page.ts'
import type { ConsolePage } from './page.ts'
import type { ConsoleReader } from './reading.ts'

type ConsoleRequest = {
  reader: ConsoleReader
  search: URLSearchParams
  /** The id in the path; empty if the route has none. */
  id: string
}

/** @throws Fault `request_refused` if the request is invalid or the page does not exist */
export type ConsolePageHandler = (asked: ConsoleRequest) => Promise<ConsolePage | { redirect: string }>

/** All pages. The first route that matches responds. */
export const routes: readonly (readonly [path: string, answer: ConsolePageHandler])[] = [
  ['/', showOverview],
  ['/mismatches', showMismatches],
  ['/mismatches/:id', showMismatch],
  ['/deposits', showDeposits],
  ['/deposits/find', findDeposit],
  ['/deposits/:id', showDeposit],
  ['/ledger', showLedger],
]

async function showOverview({ reader, search }: ConsoleRequest): Promise<ConsolePage> {
  const { refresh } = readQuery(search, { refresh: oneOf(['30']) })
  return overviewPage(await reader.overview(), {
    isLive: refresh !== undefined,
    networks: reader.networks,
  })
}

async function showMismatches({ reader, search }: ConsoleRequest): Promise<ConsolePage> {
  const { networks } = reader
  const wish = mismatchesWish(search, networks)
  return mismatchesPage({ rows: await reader.mismatches(wish), wish, networks })
}

async function showMismatch({ reader, search, id }: ConsoleRequest): Promise<ConsolePage> {
  readQuery(search, {})
  const shown = isNumber(id) ? await reader.mismatch(numberOf('id', id)) : null
  if (shown === null) throw missing(`there is no mismatch ${JSON.stringify(id.slice(0, 60))}`)
  return mismatchPage(shown, reader.runbook(shown.mismatch.kind))
}

async function showDeposits({ reader, search }: ConsoleRequest): Promise<ConsolePage> {
  const { networks } = reader
  const wish = depositsWish(search, networks)
  return depositsPage({ rows: await reader.deposits(wish), wish, networks })
}

async function findDeposit({ reader, search }: ConsoleRequest): Promise<ConsolePage | { redirect: string }> {
  const { reference = '' } = readQuery(search, { reference: shortText })
  const ids = reference === '' ? [] : await reader.findDeposits(reference)
  const [first] = ids
  if (first === undefined) throw missing(`there is no deposit ${JSON.stringify(reference)}`)
  return ids.length === 1 ? { redirect: `/deposits/${first}` } : foundPage(reference, ids)
}

/** A deposit that was merged into another redirects to that one. */
async function showDeposit({
  reader,
  search,
  id,
}: ConsoleRequest): Promise<ConsolePage | { redirect: string }> {
  readQuery(search, {})
  const shown = isNumber(id) ? await reader.deposit(numberOf('id', id)) : null
  if (shown === null) throw missing(`there is no deposit ${JSON.stringify(id.slice(0, 60))}`)
  return shown.id.toString() === id ? depositPage(shown) : { redirect: `/deposits/${shown.id}` }
}

async function showLedger({ reader, search }: ConsoleRequest): Promise<ConsolePage> {
  readQuery(search, {})
  return ledgerPage(await reader.ledger())
}

function isNumber(id: string): boolean {
  return /^[1-9]\d{0,17}$/.test(id)
}
