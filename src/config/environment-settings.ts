import { type NoteSigner, readSigningKey } from '../ledger/checkpoint.ts'
import { readPersonKey } from '../people/person-key.ts'
import type { EnvironmentReader } from './environment.ts'

export type StorageUrls = { databaseUrl: string; queueUrl: string }

const databaseSchemes = ['postgres', 'postgresql']
const queueSchemes = ['redis', 'rediss', ...databaseSchemes]

export function readStorageUrls(reader: EnvironmentReader): StorageUrls {
  const databaseUrl = readDatabaseUrl(reader)
  return { databaseUrl, queueUrl: reader.url('QUEUE_URL', queueSchemes, databaseUrl) }
}

export function isQueueInDatabase({ databaseUrl, queueUrl }: StorageUrls): boolean {
  const queue = new URL(queueUrl)
  return (
    queue.protocol.startsWith('postgres') &&
    serverAndDatabase(new URL(databaseUrl)) === serverAndDatabase(queue)
  )
}

function serverAndDatabase({ hostname, port, pathname }: URL): string {
  return `${hostname}:${port || '5432'}${pathname}`
}

export function readDatabaseUrl(reader: EnvironmentReader): string {
  return reader.url('DATABASE_URL', databaseSchemes)
}

export const linkSettings = {
  console: 'PUBLIC_URL',
  dashboards: 'DASHBOARDS_URL',
  runbook: 'RUNBOOK_URL',
} as const

export type LinkTarget = keyof typeof linkSettings

/** Without a trailing slash. */
export type Links = Readonly<Record<LinkTarget, string | null>>

export function readLinks(reader: EnvironmentReader): Links {
  return {
    console: readPublicUrl(reader),
    dashboards: readLink(reader, linkSettings.dashboards),
    runbook: readLink(reader, linkSettings.runbook),
  }
}

export function readPublicUrl(reader: EnvironmentReader): string | null {
  return readLink(reader, linkSettings.console)
}

function readLink(reader: EnvironmentReader, name: string): string | null {
  if (reader.optional(name) === undefined) return null
  const text = reader.url(name, ['http', 'https'])
  if (!URL.canParse(text)) return null
  const { username, password, search, hash } = new URL(text)
  // Paths and fragments are appended, and all recipients of an alert see the URL.
  if (`${username}${password}${search}${hash}` !== '')
    reader.faults.push(`${name} must be an address without a login, a query or a section`)
  return text.replace(/\/+$/, '')
}

/** Passkeys are bound to it, and to no IP address. */
export function originOfConsole({ console }: Pick<Links, 'console'>, port: number): string {
  return new URL(console ?? `http://localhost:${port}`).origin
}

/** With its port, as browsers send it; null if only this machine opens the console. */
export function hostOfConsole({ console }: Pick<Links, 'console'>): string | null {
  return console === null ? null : new URL(console).host
}

/** Omits URLs that point each machine to itself. */
export function sharedLinks(links: Links): Links {
  return {
    console: shared(links.console),
    dashboards: shared(links.dashboards),
    runbook: shared(links.runbook),
  }
}

function shared(url: string | null): string | null {
  return url === null || isOfOneMachine(new URL(url).hostname) ? null : url
}

/** A name in `.localhost` is local by RFC 6761. The unspecified address is not one to connect to. */
function isOfOneMachine(hostname: string): boolean {
  return isLoopback(hostname) || /\.localhost\.?$|^0\.0\.0\.0$|^\[::\]$/i.test(hostname)
}

const names = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i

/** No other machine can read or reach that traffic. */
export function isLoopback(host: string): boolean {
  return names.test(host)
}

export type TracingSettings = {
  url: string
  headers: Readonly<Record<string, string>>
  serviceName: string
  /** From 0 to 1. */
  ratio: number
}

/** Null if no collector is set. */
export function readTracing(reader: EnvironmentReader): TracingSettings | null {
  const asked = reader.optional('OTEL_EXPORTER_OTLP_ENDPOINT') !== undefined
  const endpoint = asked ? reader.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http', 'https']) : ''
  const settings = {
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: readHeaders(reader),
    serviceName: reader.text('OTEL_SERVICE_NAME', 'depositd'),
    ratio: readRatio(reader),
  }
  return asked ? settings : null
}

/** OTEL_EXPORTER_OTLP_HEADERS: `name=value` pairs with URL-encoded values. */
function readHeaders(reader: EnvironmentReader): Record<string, string> {
  const name = 'OTEL_EXPORTER_OTLP_HEADERS'
  const text = reader.optional(name) ?? ''
  if (text === '') return {}
  const pairs = text.split(',').map((pair) => /^\s*([\w!#$%&'*+.^`|~-]+)=(.*)$/.exec(pair))
  const headers = pairs.map((pair) => [pair?.[1] ?? '', decode(pair?.[2]?.trim() ?? '')] as const)
  // The fault does not repeat the text: a header can contain a key.
  if (headers.some(([key, value]) => key === '' || value === null))
    reader.faults.push(`${name} must be a list of the form name=value,name=value`)
  return Object.fromEntries(headers.map(([key, value]) => [key, value ?? '']))
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

function readRatio(reader: EnvironmentReader): number {
  const name = 'OTEL_TRACES_SAMPLER_ARG'
  const text = reader.text(name, '1')
  const ratio = /^(?:[01]|[01]?\.\d+)$/.test(text) ? Number(text) : Number.NaN
  if (text !== '' && !(ratio >= 0 && ratio <= 1))
    reader.faults.push(`${name} must be a number from 0 to 1, not ${JSON.stringify(text)}`)
  return ratio
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

export function readLogLevel(reader: EnvironmentReader): LogLevel {
  return reader.choice('LOG_LEVEL', logLevels, 'info')
}

export type OpsBindAddress = {
  host: string
  port: number
  /** Required except for liveness. Null only on loopback, which other machines cannot reach. */
  token: string | null
}

const tokenLengthMin = 16

export function readOps(reader: EnvironmentReader): OpsBindAddress {
  const host = reader.text('OPS_HOST', '127.0.0.1')
  const token = reader.optional('OPS_TOKEN') ?? null
  if (token === null && host !== '' && !isLoopback(host))
    reader.faults.push(
      `OPS_TOKEN is missing, and OPS_HOST is ${host}: set OPS_TOKEN_FILE to a file with a secret (openssl rand -hex 24), or OPS_HOST to 127.0.0.1`,
    )
  if (token !== null && token !== '') reader.faults.push(...tokenFaults(token))
  return { host, port: reader.port('OPS_PORT', 9464), token }
}

function tokenFaults(token: string): string[] {
  // Headers of browsers and scrapers cannot carry other characters.
  if (!/^[\x21-\x7e]+$/.test(token)) return ['OPS_TOKEN must be printable ASCII without blanks']
  const isShort = token.length < tokenLengthMin
  return isShort ? [`OPS_TOKEN must have at least ${tokenLengthMin} characters, or it could be guessed`] : []
}

/** `text` is secret. */
export type SecretKey = { text: string; signer: NoteSigner }

/** The key that signs checkpoints of the log; null if they are not signed. */
export function readLedgerKey(reader: EnvironmentReader): SecretKey | null {
  return readKey(reader, 'LEDGER_KEY', 'bin/depositd ledger key create')
}

/** For the commands with which people decide. */
export type PeopleSettings = {
  signingKey: SecretKey | null
  /** The public key with which the register of people begins; null to trust the first decision. */
  administratorKey: string | null
  /** Secret; null if the sign-in provider knows none. */
  openIdSecret: string | null
  /** The login that writes decisions; null for that of the daemon. */
  databaseUrl: string | null
}

export function readPeople(reader: EnvironmentReader): PeopleSettings {
  const administratorKey = reader.optional('ADMINISTRATOR_KEY') ?? null
  if (administratorKey !== null && readPersonKey(administratorKey) === null)
    reader.faults.push('ADMINISTRATOR_KEY must be a public key, as "bin/depositd people list" prints it')
  const name = 'DECISIONS_DATABASE_URL'
  const databaseUrl = reader.optional(name) === undefined ? null : reader.url(name, databaseSchemes)
  const signingKey = readKey(reader, 'SIGNING_KEY', 'bin/depositd people key')
  const openIdSecret = reader.optional('OPENID_CLIENT_SECRET') ?? null
  return { signingKey, administratorKey, databaseUrl, openIdSecret }
}

function readKey(reader: EnvironmentReader, name: string, command: string): SecretKey | null {
  const text = reader.optional(name) ?? ''
  if (text === '') return null
  const signer = readSigningKey(text)
  // The fault does not repeat the text: it is a secret.
  if (signer?.kind !== 'log') reader.faults.push(`${name} must be a key made by "${command}"`)
  return signer?.kind === 'log' ? { text, signer } : null
}

export type ApiBindAddress = { host: string; port: number }

/** Null if the API is off. On loopback by default, since its tokens are sent unencrypted. */
function readApi(reader: EnvironmentReader): ApiBindAddress | null {
  const host = reader.text('API_HOST', '127.0.0.1')
  return reader.optional('API_PORT') === undefined ? null : { host, port: reader.port('API_PORT', 0) }
}

/** The secrets of event endpoints are encrypted with it; null if there are none. */
function readEventsKey(reader: EnvironmentReader): Buffer | null {
  const text = reader.optional('EVENTS_KEY')
  if (text === undefined) return null
  const key = Buffer.from(text, 'base64')
  // The fault does not repeat the text: it is a secret.
  if (key.length !== eventsKeyLength || key.toString('base64') !== text)
    reader.faults.push('EVENTS_KEY must be 32 bytes in base64, as "openssl rand -base64 32" makes them')
  return key
}

const eventsKeyLength = 32

/** Without addresses of databases, services and nodes. */
export type EnvironmentSettings = {
  /** On loopback by default, since it is not public. */
  ops: OpsBindAddress
  /** Null if it is off. */
  api: ApiBindAddress | null
  links: Links
  /** Null if checkpoints are not signed. */
  ledgerKey: SecretKey | null
  eventsKey: Buffer | null
  people: PeopleSettings
  logLevel: LogLevel
  /** Null if tracing is off. */
  tracing: TracingSettings | null
}

export function readEnvironmentSettings(reader: EnvironmentReader): EnvironmentSettings {
  return {
    ops: readOps(reader),
    api: readApi(reader),
    links: readLinks(reader),
    ledgerKey: readLedgerKey(reader),
    eventsKey: readEventsKey(reader),
    people: readPeople(reader),
    logLevel: readLogLevel(reader),
    tracing: readTracing(reader),
  }
}
