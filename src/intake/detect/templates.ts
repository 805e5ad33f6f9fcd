import { unseparatedId } from '../../config/webhook-settings.ts'

type TemplateField = 'id' | 'timestamp' | 'body' | 'method' | 'url' | 'path'
type Orders = readonly (readonly TemplateField[])[]

/** Simplest first. */
const orders: Orders = [
  ['body'],
  ['timestamp', 'body'],
  ['body', 'timestamp'],
  ['id', 'timestamp', 'body'],
  ['timestamp', 'id', 'body'],
  ['id', 'body'],
  ['body', 'id'],
  ['id', 'body', 'timestamp'],
  ['timestamp', 'body', 'id'],
  ['body', 'id', 'timestamp'],
  ['body', 'timestamp', 'id'],
]

function ordersWith(place: 'url' | 'path'): Orders {
  return [
    [place, 'body'],
    ['body', place],
    ['method', place, 'body'],
    ['timestamp', place, 'body'],
    [place, 'timestamp', 'body'],
    [place, 'body', 'timestamp'],
    ['body', place, 'timestamp'],
    ['timestamp', 'body', place],
    ['timestamp', 'method', place, 'body'],
    ['method', 'timestamp', place, 'body'],
    ['method', place, 'timestamp', 'body'],
    ['method', place, 'body', 'timestamp'],
    ['id', 'timestamp', place, 'body'],
    ['timestamp', 'id', place, 'body'],
    ['id', 'timestamp', 'method', place, 'body'],
    ['timestamp', 'id', 'method', place, 'body'],
    ['method', place, 'timestamp', 'id', 'body'],
    ['method', place, 'id', 'timestamp', 'body'],
  ]
}

const separators = ['.', '', ':', '|', '-', '_', ',', ';', '/', '&', '\n', ' ', '+']
const requestSeparators = ['', '.', '\n', '|', ':', '-', ' ']

export type Template = { text: string; signsId: boolean; signsTimestamp: boolean }

/** @param version as `v0` in `v0:{timestamp}:{body}` */
export function templates(version: string | null): Template[] {
  return joined(orders, separators, version)
}

export function templatesWith(place: 'url' | 'path'): (version: string | null) => Template[] {
  return (version) =>
    joined(ordersWith(place), requestSeparators, version).filter(({ text }) => !unseparatedId.test(text))
}

function joined(fields: Orders, between: readonly string[], version: string | null): Template[] {
  return fields.flatMap((order) => {
    const signs = { signsId: order.includes('id'), signsTimestamp: order.includes('timestamp') }
    const places = order.map((place) => `{${place}}`)
    const plain = order.length === 1 ? ['{body}'] : between.map((separator) => places.join(separator))
    const versioned = version === null ? [] : between.map((separator) => [version, ...places].join(separator))
    return [...plain, ...versioned].map((text) => ({ text, ...signs }))
  })
}
