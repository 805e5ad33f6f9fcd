import { sign, type Webhook } from './webhook-sender.ts'

/** A webhook that nobody who knows the secret signed like that, and the answer's code. */
export type Forgery = { way: string; webhook: Webhook; code: 'bad_signature' | 'bad_timestamp' }

type Making = { secret: string; other: string; word: string }
type Change = (right: Webhook, making: Making) => Partial<Record<string, string | string[]>>

const minute = 60_000
const signatureOf = ({ headers }: Webhook) => String(headers['webhook-signature'])
const signedBy = (secret: string, { id, body }: Webhook) => signatureOf(sign({ secret }, id, body))
const inHeader = (value: string) => ({ 'webhook-signature': value })

/** Each takes a webhook that is right, and changes headers of it. */
const changes: Record<string, Change> = {
  'no signature': () => ({ 'webhook-signature': undefined }),
  'an empty signature': () => inHeader(''),
  'a version alone': () => inHeader('v1,'),
  'the secret of somebody else': (right, { other }) => inHeader(signedBy(other, right)),
  'the secret itself': (_right, { secret }) => inHeader(`v1,${secret.replace('whsec_', '')}`),
  'another version of the scheme': (right) => inHeader(signatureOf(right).replace('v1,', 'v2,')),
  'the version of public keys': (right) => inHeader(signatureOf(right).replace('v1,', 'v1a,')),
  'no version': (right) => inHeader(signatureOf(right).replace('v1,', '')),
  'half of it': (right) => inHeader(signatureOf(right).slice(0, 24)),
  'one character more': (right) => inHeader(signatureOf(right).replace('v1,', 'v1,A')),
  'lower case': (right) => inHeader(signatureOf(right).toLowerCase()),
  hexadecimal: (right) =>
    inHeader(`v1,${Buffer.from(signatureOf(right).slice(3), 'base64').toString('hex')}`),
  'that of no body': ({ id }, { secret }) => inHeader(signatureOf(sign({ secret }, id, ''))),
  'that of another body': ({ id }, { secret }) => inHeader(signatureOf(sign({ secret }, id, '{}'))),
  'that of another id': ({ body }, { secret }) => inHeader(signatureOf(sign({ secret }, 'another', body))),
  'the right one behind ten wrong ones': (right, { other }) =>
    inHeader(`${Array<string>(10).fill(signedBy(other, right)).join(' ')} ${signatureOf(right)}`),
  'two hundred wrong ones': (right, { other }) =>
    inHeader(Array<string>(200).fill(signedBy(other, right)).join(' ')),
  'that of another scheme alone': (right) => ({
    'webhook-signature': undefined,
    'x-hub-signature-256': `sha256=${signatureOf(right)}`,
    'stripe-signature': `t=1,${signatureOf(right)}`,
  }),
  'no id': () => ({ 'webhook-id': undefined }),
  'an id with a full stop': ({ id }) => ({ 'webhook-id': `${id}.1` }),
  'an id with a letter that looks alike': ({ id }) => ({
    'webhook-id': Buffer.from(`${id}\u0430`).toString('latin1'),
  }),
  'two ids': ({ id }) => ({ 'webhook-id': [id, 'another'] }),
  'an id of 257 characters': () => ({ 'webhook-id': 'm'.repeat(257) }),
  'another id': ({ id }) => ({ 'webhook-id': `${id}x` }),
  'a second later': ({ headers }) => ({
    'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1),
  }),
}

const malformedTimes = [
  '',
  '0',
  '-1',
  '1e9',
  ' 12',
  '0x5f',
  '١٢٣',
  '1.5',
  '17000000000000',
  'now',
  '01700000000',
]

/** Every way that we know in which a webhook can be signed wrongly. Each has an id of its own. */
export function forgeries(making: Making): Forgery[] {
  const { secret, word } = making
  const right = (place: string) => sign({ secret }, `forged-${word}-${place}`, bodyOf(word))
  const changed = Object.entries(changes).map(([way, change], place): Forgery => {
    const webhook = right(`c${place}`)
    return { way, webhook: withHeaders(webhook, change(webhook, making)), code: 'bad_signature' }
  })
  const malformed = malformedTimes.map((text, place): Forgery => {
    const time = Buffer.from(text).toString('latin1')
    const webhook = withHeaders(right(`m${place}`), { 'webhook-timestamp': time })
    return { way: `the time ${JSON.stringify(text)}`, webhook, code: 'bad_timestamp' }
  })
  const late = [-6 * minute, 6 * minute, -90 * 24 * 60 * minute].map((offset, place): Forgery => {
    const signer = { secret, at: new Date(Date.now() + offset) }
    const webhook = sign(signer, `forged-${word}-t${place}`, bodyOf(word))
    return { way: `signed ${offset / minute} minutes from now`, webhook, code: 'bad_timestamp' }
  })
  return [...changed, ...malformed, ...late, ...ofBodies(right, word)]
}

/** The signature is that of a body that differs by a byte. */
function ofBodies(right: (place: string) => Webhook, word: string): Forgery[] {
  const bodies = [`${bodyOf(word)}\n`, ` ${bodyOf(word)}`, bodyOf(word).replace('0', '9'), '']
  return bodies.map((body, place) => ({
    way: `a body that was changed, ${place}`,
    webhook: { ...right(`b${place}`), body },
    code: 'bad_signature',
  }))
}

function bodyOf(word: string): string {
  return JSON.stringify({ id: `evt-${word}`, type: 'endpoint.test', data: { amount: '100', note: word } })
}

function withHeaders(webhook: Webhook, change: ReturnType<Change>): Webhook {
  const merged = Object.entries({ ...webhook.headers, ...change })
  const given = merged.filter((one): one is [string, string | string[]] => one[1] !== undefined)
  return { ...webhook, headers: Object.fromEntries(given) }
}
