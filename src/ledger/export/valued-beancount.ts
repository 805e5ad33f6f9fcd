import { gainAccounts } from '../../core/chart.ts'
import { formatMinor, minorPlaces } from '../../core/value.ts'
import { type CostBasis, isOwn } from '../lots.ts'
import { BeancountLots } from './beancount-lots.ts'
import { dayOf, type ExportedJournal, type ExportedValue, type ExportFormat } from './exported-journal.ts'
import { beancount, beancountAccount, beancountDeclarations, beancountJournal } from './plain-text.ts'
import { postingsOf, unitsText } from './valued-text.ts'

/**
 * Accounts with own funds hold lots: Beancount takes out the oldest and computes the gain. All others take the costs of
 * the file, and so do own funds at average cost, which Beancount does not have.
 * @param basis if the lots are known
 */
export function valuedBeancount(currency: string, basis?: CostBasis | null): ExportFormat {
  const isFifo = basis?.method === 'fifo' && basis.own.length > 0
  const order = new DayOrder()
  const lots = new BeancountLots(currency)
  return {
    ...beancount,
    head: `${beancount.head.trimEnd()}\noption "inferred_tolerance_default" "${currency}:${halfCoin(currency)}"\n\n`,
    gaps: {
      add: (journal) => {
        if (isFifo && journal.values.some(({ account }) => isOwn(account, basis))) order.foresee(journal)
      },
      refuse: () => undefined,
    },
    journal: (journal) => [journalOf(journal, { currency, order, lots })],
    tail: (used, priced) =>
      beancountDeclarations(used, priced, (account) => (lots.isHolder(account) ? ' "FIFO"' : ' "NONE"')),
    ...(isFifo ? { lots: { ...basis, currency } } : {}),
  }
}

/** Beancount rounds the gains that it computes to twice this. */
function halfCoin(currency: string): string {
  return `0.${'0'.repeat(minorPlaces(currency))}5`
}

type ValuedState = { currency: string; order: DayOrder; lots: BeancountLots }

/** If own units leave, the gain is left to Beancount. */
function journalOf(journal: ExportedJournal, { currency, order, lots }: ValuedState): string {
  const changes = journal.lots ?? []
  if (changes.length === 0) return beancountJournal(journal, explicit(journal.values, currency))
  const isReduced = lots.isReducedBy(changes)
  const day = order.dayOf(journal, lots.isOpposedBy(changes))
  const own = lots.postings(journal, !order.isPreceded(journal, day))
  const held = new Set(changes.map(({ account }) => account))
  const others = journal.values.filter(({ account, asset }) => asset === null || !held.has(account))
  const isComputed = ({ account }: ExportedValue) => isReduced && account === gainAccounts.realised
  return beancountJournal(
    journal,
    [
      ...own,
      ...explicit(
        others.filter((value) => !isComputed(value)),
        currency,
      ),
      ...others.filter(isComputed).map(({ account }) => `  ${beancountAccount(account)}`),
    ],
    day,
  )
}

function explicit(values: readonly ExportedValue[], currency: string): string[] {
  return postingsOf(values).map(({ account, units, value }) => {
    const money = `${formatMinor(value, currency)} ${currency}`
    const amount = units === null ? money : `${unitsText(units)} ${units.asset.commodity} {{${money}}}`
    return `  ${beancountAccount(account)}  ${amount}`
  })
}

/** Beancount books by day, depositd by number. */
class DayOrder {
  /** Journals that no later one of the same or an earlier day follows, so that days rise too. */
  readonly #lasting: { id: bigint; day: string }[] = []
  #newest = ''

  /** All journals with own funds, before any is written. */
  foresee(journal: ExportedJournal): void {
    const day = dayOf(journal)
    while ((this.#lasting.at(-1)?.day ?? '') >= day) this.#lasting.pop()
    this.#lasting.push({ id: journal.id, day })
  }

  /** That of the event; of a journal that takes out lots, no day before those of earlier journals. */
  dayOf(journal: ExportedJournal, isOpposed: boolean): string {
    const [day, newest] = [dayOf(journal), this.#newest]
    if (day >= newest) this.#newest = day
    return isOpposed && day < newest ? newest : day
  }

  /** By a later journal of an earlier day. */
  isPreceded({ id }: ExportedJournal, day: string): boolean {
    const next = this.#lasting.find((one) => one.id > id)
    return next !== undefined && next.day < day
  }
}
