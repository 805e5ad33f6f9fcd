import { type Fact, printable, type TableColumn } from '../../presentation/text.ts'

/** `show`: for cells that are more than text. */
export type ShownColumn<Row> = TableColumn<Row> & { show?: (row: Row) => HtmlContent }

type TableSettings<Row> = {
  caption: string
  columns: readonly ShownColumn<Row>[]
  empty: string
}

const longestCell = 400
/** Longer cells may wrap. */
const longestWord = 28
/** A table this narrow fits every screen. */
const columnsOfSmall = 3

/**
 * Rows become cards on a narrow screen. The roles repeat the meaning of the elements, because browsers drop it from a
 * table with another layout.
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

export function withShown<Row>(
  columns: readonly TableColumn<Row>[],
  shown: Readonly<Record<string, (row: Row) => HtmlContent>>,
): ShownColumn<Row>[] {
  return columns.map((column) => {
    const show = shown[column.title]
    return show === undefined ? column : { ...column, show }
  })
}

export function factsOf(facts: readonly (Fact & { show?: HtmlContent })[]): Html {
  const parts = facts.map(
    ({ name, lines, show }) =>
      html`<div><dt>${name}</dt>${show === undefined ? lines.map((line) => html`<dd>${readable(clip(line))}</dd>`) : html`<dd>${show}</dd>`}</div>
`,
  )
  return html`<dl class="facts">${parts}</dl>`
}

function cellOf<Row>(row: Row, { title, value, align, show }: ShownColumn<Row>): Html {
  const text = value(row)
  const content = show === undefined ? readable(clip(text, longestCell)) : show(row)
  const length =
    (show === undefined && text === '') || content === '' || content === null
      ? 'none'
      : text.length <= longestWord
        ? 'short'
        : 'long'
  const classes = `${align ?? 'left'} ${length}`
  return html`<td role="cell" class="${classes}" data-title="${headOf(title)}">${content}</td>`
}

const asTheyAre = new Set(['ID', 'API', 'SHA-256'])

/** The command line writes titles in capitals. */
function headOf(title: string): string {
  return asTheyAre.has(title) ? title : title.slice(0, 1) + title.slice(1).toLowerCase()
}

/** In UTC, to the second; the script shows it in the zone of the reader. */
export function timeOf(at: Date): Html {
  return timeHtml(at.toISOString())
}

function timeHtml(iso: string): Html {
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')} UTC</time>`
}

const exactTimes = /(\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z)/

/** As people read it: the command line writes exact times into its texts, and amounts without separators. */
export function readable(text: string): HtmlContent {
  return text
    .split(exactTimes)
    .map((part) =>
      exactTimes.test(part) && !Number.isNaN(Date.parse(part)) ? timeHtml(part) : withSeparators(part),
    )
}

/** The whole part of a decimal, from 1,000 on. Whole numbers stay as they are: they may be ids. */
function withSeparators(text: string): string {
  return text.replaceAll(/(?<![\w.])\d{4,}(?=\.\d)/g, (digits) =>
    digits.replaceAll(/\B(?=(?:\d{3})+$)/g, ','),
  )
}

/** Trusted markup, made by `html`. A string is never taken for markup. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type HtmlContent = Html | string | number | bigint | null | readonly HtmlContent[]

/** Contents are escaped unless they are markup; null adds nothing. */
export function html(parts: TemplateStringsArray, ...contents: readonly HtmlContent[]): Html {
  return new Html(String.raw({ raw: parts }, ...contents.map(textOf)))
}

const longestText = 4000

/** Text from outside may have any length. */
export function clip(text: string, lengthMax = longestText): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax)}…`
}

/** Of any length: what a person signs is shown in full. */
export function whole(text: string): HtmlContent {
  return text.match(/[^]{1,2000}/gu) ?? []
}

export type QueryValue = string | number | bigint | null | undefined

/** Null and empty fields are left out. */
export function linkTo(path: string, query: Readonly<Record<string, QueryValue>> = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '') search.set(name, String(value))
  }
  return search.size === 0 ? path : `${path}?${search.toString()}`
}

function textOf(content: HtmlContent): string {
  if (content === null) return ''
  if (content instanceof Html) return content.text
  if (typeof content === 'object') return content.map(textOf).join('')
  return printable(clip(String(content))).replaceAll(/[&<>"'`]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
