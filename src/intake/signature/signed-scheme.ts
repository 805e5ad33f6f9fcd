import type {
  Refusal,
  RequestLine,
  SignatureScheme,
  SignatureVerdict,
  SignedSettings,
  TimestampSettings,
  WebhookDelivery,
} from './scheme.ts'

export type SignedDelivery = {
  head: string
  body: Buffer
  tail: string
  /** Empty if missing. */
  signatures: string
  receivedAt: Date
}

/** Null if the signature is valid. */
export type Judge = (signed: SignedDelivery) => 'signature_missing' | 'signature_wrong' | null

type SignatureLayout = Pick<
  SignedSettings,
  'header' | 'template' | 'id' | 'timestamp' | 'publicUrl' | 'tolerance'
>

export function createSignedScheme(settings: SignatureLayout, judge: Judge): SignatureScheme {
  const { header, template, id, timestamp, publicUrl, tolerance } = settings
  const idForm = idFormOf(template)
  const signsLine = signsRequestLine(template)
  return (delivery) => {
    const { body, receivedAt } = delivery
    const idText = id === undefined ? null : headerText(delivery, id.header)
    if (idText !== null && !idForm.test(idText)) return refused('id_malformed')
    const time = timestamp === undefined ? '' : timestampText(delivery, timestamp)
    const late = timestamp && refuseTimestamp(time, timestamp.unit, { receivedAt, tolerance })
    if (late) return refused(late)
    const line = signsLine ? requestLineOf(delivery) : undefined
    const own = { id: idText ?? '', timestamp: time }
    const around = fillTemplate(template, withRequest(own, line, publicUrl))
    const wrong = judge({ ...around, body, signatures: headerText(delivery, header), receivedAt })
    return wrong === null ? verified(idText, line) : refused(wrong)
  }
}

type OwnValues = Pick<TemplateValues, 'id' | 'timestamp'>

function withRequest(own: OwnValues, line: RequestLine | undefined, publicUrl: string | undefined) {
  return line === undefined ? own : { ...own, ...requestValues(line, publicUrl) }
}

function verified(id: string | null, line: RequestLine | undefined): SignatureVerdict {
  return line === undefined ? { kind: 'verified', id } : { kind: 'verified', id, line }
}

/** `decoded_url` is for HubSpot only. */
const requestPlace = /\{(?:method|url|decoded_url|path)\}/

export function signsRequestLine(template: string): boolean {
  return requestPlace.test(template)
}

export function requestLineOf(delivery: WebhookDelivery): RequestLine {
  return {
    ':method': delivery.method ?? headerText(delivery, ':method'),
    ':path': delivery.path ?? headerText(delivery, ':path'),
  }
}

export function requestValues(
  { ':method': method, ':path': path }: RequestLine,
  publicUrl = '',
): Omit<TemplateValues, keyof OwnValues> {
  const url = publicUrl + path
  return { method, path, url, decoded_url: decodeForHubSpot(url) }
}

/** Every other character stays encoded. Source: developers.hubspot.com, "Validate the v3 request signature". */
const decodedByHubSpot = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi

function decodeForHubSpot(url: string): string {
  return url.replace(decodedByHubSpot, decodeURIComponent)
}

type TemplateValues = Record<'id' | 'timestamp' | 'method' | 'path' | 'url' | 'decoded_url', string>

/** In one pass, so that no value is filled into another. */
export function fillTemplate(
  template: string,
  values: OwnValues & Partial<TemplateValues>,
): Pick<SignedDelivery, 'head' | 'tail'> {
  const [head = '', tail = ''] = template
    .split('{body}')
    .map((part) => part.replace(place, (_, name: keyof TemplateValues) => values[name] ?? ''))
  return { head, tail }
}

const place = /\{(id|timestamp|method|path|url|decoded_url)\}/g

/** Empty if the header is missing, or was repeated and Node does not join its values. */
export function headerText({ headers }: Pick<WebhookDelivery, 'headers'>, name: string): string {
  const value = headers[name]
  return typeof value === 'string' ? value : ''
}

export const refused = (reason: Refusal): SignatureVerdict => ({ kind: 'refused', reason })

function timestampText(
  delivery: WebhookDelivery,
  { header, field }: { header: string; field?: string | undefined },
): string {
  const text = headerText(delivery, header)
  if (field === undefined) return text
  const values = text.split(/[,;]\s*/).filter((entry) => entry.startsWith(`${field}=`))
  // Of two timestamps, one was not signed.
  return values.length === 1 ? (values[0] ?? '').slice(field.length + 1) : ''
}

/**
 * Visible ASCII without the characters beside `{id}`: with a full stop in the id, its end could pass as the start of
 * the signed timestamp.
 */
function idFormOf(template: string): RegExp {
  const [, before = '', after = ''] = /(.?)\{id\}(.?)/s.exec(template) ?? []
  const beside = [before, after]
    .filter((character) => !'{}'.includes(character))
    .map(escape)
    .join('')
  return new RegExp(`^(?:(?![${beside}])[\\x21-\\x7e]){1,256}$`)
}

/** Bounds the cost of verifying an unauthenticated delivery. */
const signaturesMax = 10

export function signatureFinder({ field, prefix }: Pick<SignedSettings, 'field' | 'prefix'>) {
  const before = escape((field === undefined ? '' : `${field}=`) + prefix)
  const form = new RegExp(`(?:^|[\\s,;])${before}([A-Za-z0-9+/_=-]+)(?=[\\s,;]|$)`, 'g')
  return (text: string): string[] =>
    [...text.matchAll(form).take(signaturesMax)].map(([, signature = '']) => signature)
}

function escape(text: string): string {
  return text.replace(/\W/g, '\\$&')
}

type TimestampUnit = TimestampSettings['unit']
type Times = { receivedAt: Date; tolerance: number }

/** Null if the timestamp is accepted. A replayed delivery would need a new signature. */
function refuseTimestamp(
  text: string,
  unit: TimestampUnit,
  { receivedAt, tolerance }: Times,
): Refusal | null {
  const time = forms[unit].test(text) ? millisecondsOf[unit](text) : Number.NaN
  if (Number.isNaN(time)) return 'timestamp_malformed'
  const age = receivedAt.getTime() - time
  if (age > tolerance) return 'timestamp_too_old'
  return age < -tolerance ? 'timestamp_too_new' : null
}

/** Only one spelling each: lenient parsers read `123abc` as 123. A date without a zone could mean any of 26 hours. */
const forms: Record<TimestampUnit, RegExp> = {
  s: /^[1-9]\d{0,11}$/,
  ms: /^[1-9]\d{0,14}$/,
  iso: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/,
}

const millisecondsOf: Record<TimestampUnit, (text: string) => number> = {
  s: (text) => Number(text) * 1000,
  ms: Number,
  iso: Date.parse,
}
