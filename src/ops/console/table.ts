import type { TableColumn } from '../../presentation/column.ts'
import type { Fact } from '../../presentation/words.ts'
import { clip, type Html, type HtmlContent, html } from './html.ts'

/** A column as the command line has it, and how its cells are shown where that is more than their text. */
export type ShownColumn<Row> = TableColumn<Row> & { show?: (row: Row) => HtmlContent }

type TableSettings<Row> = {
  /** What the table is of, for who does not see where it stands. */
  caption: string
  columns: readonly ShownColumn<Row>[]
  /** What is said where there is no row. */
  empty: string
}

const longestCell = 400
/** What is no longer than this stays in one line where there is room for it. */
const longestWord = 28
/** A table of so few columns has room on every screen. */
const columnsOfSmall = 3

/**
 * A table of which each row becomes a card where the screen is narrow: every cell carries the name of its column. The
 * roles say again what the elements are, since browsers forget it of a table that is laid out otherwise.
 */
export function tableOf<Row>(rows: readonly Row[], { caption, columns, empty }: TableSettings<Row>): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`
  const heads = columns.map(
    ({ title, align }) =>
      html`<th scope="col" role="columnheader" class="${align ?? 'left'}">${headOf(title)}</th>`,
  )
  const lines = rows.map(
    (row) => html`<tr role="row">${columns.map((column) => cellOf(row, column))}</tr>
`,
  )
  const layout = columns.length > columnsOfSmall ? 'rows' : 'small'
  return html`<table role="table" class="${layout}"><caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${heads}</tr></thead>
<tbody role="rowgroup">${lines}</tbody></table>`
}

/** The same columns; those that are named are shown in another way. */
export function withShown<Row>(
  columns: readonly TableColumn<Row>[],
  shown: Readonly<Record<string, (row: Row) => HtmlContent>>,
): ShownColumn<Row>[] {
  return columns.map((column) => {
    const show = shown[column.title]
    return show === undefined ? column : { ...column, show }
  })
}

/** What is said of one thing, each under its name. */
export function factsOf(facts: readonly (Fact & { show?: HtmlContent })[]): Html {
  const parts = facts.map(
    ({ name, lines, show }) =>
      html`<div><dt>${name}</dt>${show === undefined ? lines.map((line) => html`<dd>${line}</dd>`) : html`<dd>${show}</dd>`}</div>
`,
  )
  return html`<dl class="facts">${parts}</dl>`
}

function cellOf<Row>(row: Row, { title, of, align, show }: ShownColumn<Row>): Html {
  const text = of(row)
  const content = show === undefined ? clip(text, longestCell) : show(row)
  const length = content === '' || content === null ? 'none' : text.length <= longestWord ? 'short' : 'long'
  const classes = `${align ?? 'left'} ${length}`
  return html`<td role="cell" class="${classes}" data-title="${headOf(title)}">${content}</td>`
}

const asTheyAre = new Set(['ID', 'API', 'SHA-256'])

/** The command line writes titles large. */
function headOf(title: string): string {
  return asTheyAre.has(title) ? title : title.slice(0, 1) + title.slice(1).toLowerCase()
}
