import type { Fact, TableColumn } from '../../presentation/text.ts'
import { clip, type Html, type HtmlContent, html } from './html.ts'

/** A column as on the command line, with the markup of its cells if they are more than text. */
export type ShownColumn<Row> = TableColumn<Row> & { show?: (row: Row) => HtmlContent }

type TableSettings<Row> = {
  /** Names the table for users of screen readers. */
  caption: string
  columns: readonly ShownColumn<Row>[]
  /** Shown if there are no rows. */
  empty: string
}

const longestCell = 400
/** Cells up to this length stay in one line if there is room. */
const longestWord = 28
/** A table with at most this many columns fits every screen. */
const columnsOfSmall = 3

/**
 * A table whose rows become cards on a narrow screen: every cell carries the name of its column. The roles repeat the
 * meaning of the elements, because browsers drop it from a table with another layout.
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

/** The same columns, with other markup for those that are named. */
export function withShown<Row>(
  columns: readonly TableColumn<Row>[],
  shown: Readonly<Record<string, (row: Row) => HtmlContent>>,
): ShownColumn<Row>[] {
  return columns.map((column) => {
    const show = shown[column.title]
    return show === undefined ? column : { ...column, show }
  })
}

/** Facts about one item, each with its name. */
export function factsOf(facts: readonly (Fact & { show?: HtmlContent })[]): Html {
  const parts = facts.map(
    ({ name, lines, show }) =>
      html`<div><dt>${name}</dt>${show === undefined ? lines.map((line) => html`<dd>${line}</dd>`) : html`<dd>${show}</dd>`}</div>
`,
  )
  return html`<dl class="facts">${parts}</dl>`
}

function cellOf<Row>(row: Row, { title, value, align, show }: ShownColumn<Row>): Html {
  const text = value(row)
  const content = show === undefined ? clip(text, longestCell) : show(row)
  const length = content === '' || content === null ? 'none' : text.length <= longestWord ? 'short' : 'long'
  const classes = `${align ?? 'left'} ${length}`
  return html`<td role="cell" class="${classes}" data-title="${headOf(title)}">${content}</td>`
}

const asTheyAre = new Set(['ID', 'API', 'SHA-256'])

/** The command line writes titles in capitals. */
function headOf(title: string): string {
  return asTheyAre.has(title) ? title : title.slice(0, 1) + title.slice(1).toLowerCase()
}
