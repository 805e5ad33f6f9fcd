import { text as textOf } from 'node:stream/consumers'
import { Fault } from '../../core/errors.ts'
import { type Claim, defaultService, deliveryTxs, stableWalletNetwork } from '../../core/evidence.ts'
import { type AssetLabels, decimalText, documentAmount } from '../../presentation/mismatch-sentence.ts'
import { compileRecordHead } from '../../provider/deposit-client.ts'
import { isObject } from '../../provider/infer/columns.ts'
import { compilePath, shownPath } from '../../provider/profile/find-field.ts'
import type { Vocabulary } from '../../provider/profile/known-assets.ts'
import { parseProfile } from '../../provider/profile/parse-profile.ts'
import type { Profile } from '../../provider/profile/profile-schema.ts'
import {
  type ClaimReading,
  createClaimReader,
  itemPath,
  readItems,
  recordPath,
} from '../../provider/read-claim.ts'
import type { Context } from '../context.ts'
import { legDocument } from '../documents.ts'
import { readTextFile } from '../files.ts'
import { wrongUse } from '../options.ts'
import { type News, print, printable } from '../print.ts'
import { bodyOf, parseAnswers, readVocabulary } from './profile.ts'

type TestOptions = { records?: string; webhooks?: string }

type ProfileSample = { source: 'webhook' | 'record'; number: number; body: Buffer; document: unknown }

/** Bad news if a sample cannot be read. */
export async function testProfileCommand(
  context: Context,
  path: string,
  options: TestOptions,
): Promise<News> {
  const { DEPOSITD_CONFIG: settingsPath } = context.environment
  const vocabulary = readVocabulary(settingsPath)
  const profile = profileAt(path, vocabulary)
  const samples = await readSamples(options, profile)
  const tried = trySamples(samples, profile, vocabulary)
  const assets = labelsOf(vocabulary)
  const documents = tried.map((one) => documentOf(one, assets))
  const count = (result: string) => documents.filter((one) => one.result === result).length
  const counts = { read: count('read'), ignored: count('ignored'), unreadable: count('unreadable') }
  const networks = settingsPath === undefined ? 'the built-in networks' : `the networks of ${settingsPath}`
  const summary = [
    `Read ${counts.read} of ${tried.length} samples, ignored ${counts.ignored}, with ${networks}.`,
    ...undecidedAssets(vocabulary),
    counts.unreadable === 0
      ? 'Set this file as the profile of the service: the daemon follows, and applies stored payloads.'
      : 'Correct the profile and run this command again. The daemon follows, and applies stored payloads.',
  ]
  const text = [...tried.map((one) => blockOf(one, assets)), ...summary, ''].join('\n')
  print(context, { profile: path, ...counts, samples: documents }, text)
  return counts.unreadable === 0 ? 'good' : 'bad'
}

/** @throws Fault `settings_bad` that lists every problem with its line */
function profileAt(path: string, { networks }: Vocabulary): Profile {
  const names = new Set([...networks.map(({ name }) => name), stableWalletNetwork])
  const { profile, faults } = parseProfile(readTextFile('the profile', path), names)
  if (profile !== null) return profile
  throw new Fault('settings_bad', { faults: faults.map((fault) => `profile ${path}, ${fault}`) })
}

/** Their amounts cannot be read without the chain. */
function undecidedAssets({ networks }: Vocabulary): string[] {
  const labels = networks.flatMap(({ name, unpinned = [] }) =>
    unpinned.map(({ symbol }) => `${symbol} on ${name}`),
  )
  if (labels.length === 0) return []
  return [`Unknown here, since the settings file gives no decimals: ${labels.join(', ')}.`]
}

async function readSamples({ records, webhooks }: TestOptions, { list }: Profile): Promise<ProfileSample[]> {
  if (records === '-' && webhooks === '-')
    throw wrongUse('--records and --webhooks are both -', 'give a file for one of them')
  const bodies = (await documentsAt('--webhooks', webhooks)).flatMap((one) =>
    Array.isArray(one) ? one : [one],
  )
  const listed = (await documentsAt('--records', records)).flatMap((one) => itemsIn(one, list.items))
  const samples = [
    ...bodies.map((document, place) => sampleOf('webhook', document, place)),
    ...listed.map((document, place) => sampleOf('record', document, place)),
  ]
  if (samples.length > 0) return samples
  throw wrongUse('no samples', 'give records with --records, or webhooks with --webhooks')
}

async function documentsAt(option: string, path: string | undefined): Promise<unknown[]> {
  if (path === undefined) return []
  const text = path === '-' ? await textOf(process.stdin) : readTextFile(option, path)
  return parseAnswers(path === '-' ? 'standard input' : path, text)
}

/** Of a whole answer, a list, or a record. */
function itemsIn(document: unknown, items: string | null): readonly unknown[] {
  const list = Array.isArray(document) || items === null ? document : compilePath(items)(document, document)
  return Array.isArray(list) ? list : [document]
}

/** Of a capture, only the body is read. */
function sampleOf(source: ProfileSample['source'], document: unknown, place: number): ProfileSample {
  const { headers, body, body_base64: base64 } = isObject(document) ? document : {}
  const isCapture = source === 'webhook' && isObject(headers)
  const captured =
    isCapture && typeof body === 'string'
      ? Buffer.from(body)
      : isCapture && typeof base64 === 'string'
        ? Buffer.from(base64, 'base64')
        : null
  return { source, number: place + 1, document, body: captured ?? bodyOf(document) }
}

/**
 * `item` is null unless a webhook has several; `listTime` orders a listed record; `keys` of the profile lead to the path
 * that cannot be read.
 */
type TriedSample = ProfileSample & {
  item: number | null
  reading: ClaimReading
  listTime: Date | null
  keys: readonly string[]
}

function trySamples(
  samples: readonly ProfileSample[],
  profile: Profile,
  vocabulary: Vocabulary,
): TriedSample[] {
  const read = createClaimReader(profile, vocabulary)
  const readHead = compileRecordHead(profile, defaultService)
  return samples.flatMap((sample) => {
    const isRecord = sample.source === 'record'
    const source = isRecord ? 'api' : 'webhook'
    const readings = readItems(read, { source, body: sample.body, receivedAt: new Date(0) })
    return readings.map((reading, place) => ({
      ...sample,
      item: readings.length > 1 ? place + 1 : null,
      reading,
      listTime: isRecord ? readHead(sample.document).time : null,
      keys: 'problem' in reading ? keysAt(reading.path, profile, isRecord ? null : place + 1) : [],
    }))
  })
}

/** @param item null for a record of the API */
function keysAt(path: string, { webhook, record }: Profile, item: number | null): string[] {
  if (item === null) return keysOf(fieldsIn(record, { key: 'record', prefix: '' }), path)
  const prefix = webhook.items === undefined ? '' : itemPath(webhook.items, item)
  const fields = [
    ...fieldsIn(webhook, { key: 'webhook', prefix }),
    ...fieldsIn(record, { key: 'record', prefix: recordPath(webhook, prefix) }),
  ]
  if (webhook.items !== undefined)
    fields.push({ key: 'webhook.items', paths: [shownPath(webhook.items, '')] })
  return keysOf(fields, path)
}

function keysOf(fields: readonly FieldPaths[], path: string): string[] {
  return fields.flatMap(({ key, paths }) => (paths.includes(path) ? [key] : []))
}

type FieldPaths = { key: string; paths: readonly string[] }

function fieldsIn(section: object, { key, prefix }: { key: string; prefix: string }): FieldPaths[] {
  if ('paths' in section)
    return [{ key, paths: (section.paths as readonly string[]).map((path) => shownPath(path, prefix)) }]
  return Object.entries(section).flatMap(([name, inner]) =>
    isObject(inner) ? fieldsIn(inner, { key: `${key}.${name}`, prefix }) : [],
  )
}

function labelsOf({ networks, creditAsset }: Vocabulary): AssetLabels {
  const assets = [...networks.flatMap((network) => network.assets), creditAsset]
  return Object.fromEntries(assets.map((asset) => [asset.key, asset]))
}

function documentOf({ source, number, item, reading, listTime, keys }: TriedSample, assets: AssetLabels) {
  const sample = { source, number, ...(item !== null && { item }) }
  if (reading.kind === 'ignored') return { ...sample, result: 'ignored', ...reading.by }
  if (reading.kind !== 'claim') {
    const { kind, path, problem, value, fix } = reading
    return { ...sample, result: 'unreadable', kind, path, problem, value, fix, keys }
  }
  const { serviceId, status, owner, deposit, settlement, refund, occurredAt, isUndated } = reading.claim
  return {
    ...sample,
    result: 'read',
    serviceId,
    status,
    owner,
    deposit: { ...legDocument(deposit, assets), index: deposit.index },
    settlement: legDocument(settlement && { ...settlement }, assets),
    refundTx: refund?.tx ?? null,
    occurredAt: isUndated === true ? null : occurredAt,
    listTime,
  }
}

function blockOf(tried: TriedSample, assets: AssetLabels): string {
  const { source, number, item, reading, keys } = tried
  const title = `${source} ${number}${item === null ? '' : `, item ${item}`}`
  if (reading.kind === 'claim') return block(`${title}: read`, claimLines(reading.claim, tried, assets))
  if (reading.kind === 'ignored') {
    const { key, path, value } = reading.by
    return block(`${title}: ignored`, [
      ['by', key],
      ['path', path],
      ['found', value ?? 'nothing'],
    ])
  }
  const { path, value, problem, fix } = reading
  return block(`${title}: cannot be read`, [
    ['path', path === '' ? 'the whole payload' : path],
    ...line('found', value),
    ['problem', problem],
    ['fix', fix],
    ...line('profile key', keys.length === 0 ? null : keys.join(', ')),
  ])
}

type Line = readonly [name: string, text: string]

function line(name: string, text: string | null): Line[] {
  return text === null ? [] : [[name, text]]
}

function block(title: string, lines: readonly Line[]): string {
  const rows = lines.map(
    ([name, text]) => `  ${name.padEnd(15)}${printable(text).replaceAll(/[\n\t]+/g, ' ')}`,
  )
  return `${[title, ...rows].join('\n')}\n`
}

function claimLines(claim: Claim, { source, listTime }: TriedSample, assets: AssetLabels): Line[] {
  const { serviceId, status, owner, deposit, settlement, refund, occurredAt, isUndated } = claim
  return [
    ['id', serviceId],
    ['status', status],
    ['owner', owner === null ? 'by the address book' : `${owner.kind} ${owner.id}`],
    ['occurred', isUndated === true ? 'not stated: the time of receipt counts' : occurredAt.toISOString()],
    ...(source === 'record' ? line('list time', listTime?.toISOString() ?? 'none') : []),
    ['deposit', legText(deposit, assets)],
    ['  address', deposit.address],
    ['  transaction', deposit.tx ?? 'not stated'],
    ...line('  index', deposit.index),
    ...(settlement === null ? line('settlement', 'not stated') : settlementLines(settlement, assets)),
    ...line('refund', refund?.tx ?? null),
  ]
}

function settlementLines(settlement: NonNullable<Claim['settlement']>, assets: AssetLabels): Line[] {
  const { address, tx, fee, asset } = settlement
  return [
    ['settlement', legText(settlement, assets)],
    ['  address', address],
    ['  transaction', tx === null ? 'not stated' : deliveryTxs(settlement).join(', ')],
    ['  fee', fee === null ? 'not stated' : amountText(fee, asset, assets)],
  ]
}

function legText(
  { amount, asset, network }: { amount: bigint | null; asset: string; network: string },
  assets: AssetLabels,
): string {
  return `${amountText(amount, asset, assets)} on ${network}`
}

function amountText(base: bigint | null, asset: string, assets: AssetLabels): string {
  const { amount, asset_symbol: symbol } = documentAmount(asset, base ?? 0n, assets)
  return base === null || amount === null
    ? `${symbol}, amount not stated`
    : `${decimalText(amount)} ${symbol}`
}
