import type { JsonValue } from '../../people/decision.ts'
import {
  addressColumns,
  addressLines,
  resolutionColumns,
  ruleColumns,
  ruleLines,
} from '../../presentation/decision.ts'
import { transferColumns } from '../../presentation/deposit.ts'
import { openingFacts, openingLinesShown } from '../../presentation/opening.ts'
import type { Fact, TableColumn } from '../../presentation/text.ts'
import { type Html, type HtmlContent, html, tableOf } from './html.ts'
import type { ConsoleDecision, ConsoleJournal } from './people.ts'

type ShownBooks = Pick<ConsoleDecision, 'content' | 'journals' | 'resolutions'>

/** What decisions book, change or resolve. */
export function booksOf(shown: readonly ShownBooks[]): HtmlContent {
  const addresses = shown.flatMap(({ content }) =>
    content?.kind === 'addresses' ? addressLines(content.grounds.books) : [],
  )
  const rules = shown.flatMap(({ content }) => ruleLines(content?.grounds.books ?? []))
  const resolutions = shown.flatMap((one) => one.resolutions)
  const journals = shown.flatMap(({ content, journals: all }) =>
    content?.kind === 'opening' ? all.map(firstOf) : all,
  )
  if (addresses.length + rules.length + resolutions.length + journals.length === 0)
    return html`<p class="empty">No journal.</p>`
  return [
    tableUnlessEmpty(addresses, { caption: 'Addresses', columns: addressColumns }),
    tableUnlessEmpty(rules, { caption: 'Rules that change; amounts in base units', columns: ruleColumns }),
    tableUnlessEmpty(resolutions, { caption: 'Mismatches that it resolves', columns: resolutionColumns }),
    ...journals.map(journalTable),
  ]
}

function firstOf({ place, transfers, ...journal }: ConsoleJournal): ConsoleJournal {
  const shown = transfers.slice(0, openingLinesShown)
  const left = transfers.length - shown.length
  return {
    ...journal,
    place: left > 0 ? `${place}: the first ${shown.length} of ${transfers.length} lines` : place,
    transfers: shown,
  }
}

function tableUnlessEmpty<Row>(
  rows: readonly Row[],
  settings: { caption: string; columns: readonly TableColumn<Row>[] },
): Html | null {
  return rows.length === 0 ? null : tableOf(rows, { ...settings, empty: '' })
}

function journalTable({ key, place, transfers }: ConsoleJournal): Html {
  const caption = `${key}, ${place}`
  return html`<p class="note">${caption}</p>
${tableOf(transfers, { caption, columns: transferColumns, empty: 'No transfers.' })}`
}

/** @param change of a decision to open the books */
export function openingFactsOf(change: JsonValue, journals: readonly ConsoleJournal[]): Fact[] {
  const file = change !== null && typeof change === 'object' && 'file' in change ? change.file : null
  const transfers = journals.flatMap((journal) => journal.transfers)
  return openingFacts(typeof file === 'string' ? file : null, transfers)
}
