import { defaultService } from '../../src/core/evidence.ts'
import type { AdmissionDeps } from '../../src/intake/admit-delivery.ts'
import { createInboxWriter, type InboxWriter, type ReceivedWebhook } from '../../src/intake/inbox-writer.ts'
import type { QuarantinedDelivery } from '../../src/intake/quarantine.ts'
import type { IntakeObservation } from '../../src/intake/receive-transfer.ts'
import {
  type Intake,
  type IntakeLimits,
  type IntakeServerOptions,
  intakeLimits,
  startIntake,
  transfersPath,
} from '../../src/intake/server.ts'
import { makeSecret, signStandardWebhook, standardWebhooks } from './sign-webhook.ts'

export const secret = makeSecret()

export const writerBounds = {
  flushRowsMax: 100,
  flushBytesMax: 8 * 1024 * 1024,
  waitingMax: 1000,
  waitingBytesMax: 64 * 1024 * 1024,
  flushTimeoutMs: 5000,
}

/** A store in memory that keeps the first row of each key. */
export function memoryStore() {
  const rows = new Map<string, ReceivedWebhook>()
  const batches: number[] = []
  const store = async (batch: readonly ReceivedWebhook[]) => {
    batches.push(batch.length)
    return batch.map((row) => {
      if (rows.has(row.sourceKey)) return 'duplicate' as const
      rows.set(row.sourceKey, row)
      return 'stored' as const
    })
  }
  return { rows, batches, store }
}

export type TestIntake = Intake & {
  observed: IntakeObservation[]
  errors: unknown[]
  quarantined: QuarantinedDelivery[]
  /** How often the wake-up was asked for. */
  wakes: () => number
}

type Change = Partial<Omit<IntakeServerOptions, 'limits'>> & {
  /** Of the default service. */
  admitting?: Partial<AdmissionDeps>
  write: InboxWriter['write']
  limits?: Partial<IntakeLimits>
}

export const signedByStandard: AdmissionDeps = {
  service: defaultService,
  verify: standardWebhooks(secret),
  signing: { scheme: 'standard-webhooks', headers: 'webhook', tolerance: 300_000 },
  secrets: [],
  readEventId: () => null,
}

/** An endpoint on a free port whose observations are kept. */
export async function startTestIntake({ limits, admitting, ...change }: Change): Promise<TestIntake> {
  const observed: IntakeObservation[] = []
  const errors: unknown[] = []
  const quarantined: QuarantinedDelivery[] = []
  let wakes = 0
  const intake = await startIntake({
    port: 0,
    host: '127.0.0.1',
    admissionOf: (name) => (name === defaultService ? { ...signedByStandard, ...admitting } : undefined),
    quarantine: (delivery) => quarantined.push(delivery),
    trustedProxies: [],
    now: () => new Date(),
    observe: (observation) => observed.push(observation),
    onStored: () => wakes++,
    onError: (error) => errors.push(error),
    limits: { ...intakeLimits, stopTimeoutMs: 1000, ...limits },
    ...change,
  })
  return { ...intake, observed, errors, quarantined, wakes: () => wakes }
}

export function memoryWriter() {
  const memory = memoryStore()
  return { ...memory, ...createInboxWriter({ ...writerBounds, store: memory.store }) }
}

export function signed(id: string, body: Buffer): Record<string, string> {
  return { 'content-type': 'application/json', ...signStandardWebhook({ secret, id, body, at: new Date() }) }
}

/** The start line and the headers of a request to the endpoint, as they are written to a socket. */
export const requestHead = (headers: Record<string, string>) =>
  [
    `POST ${transfersPath} HTTP/1.1`,
    'host: x',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    '',
  ].join('\r\n')

type Sending = { id: string; body?: Buffer | string; headers?: Record<string, string> }

/** Sends one signed webhook. */
export function deliver(
  { url }: Intake,
  { id, body = '{"event":"x"}', headers }: Sending,
): Promise<Response> {
  const bytes = Buffer.from(body)
  return fetch(url + transfersPath, {
    method: 'POST',
    body: bytes,
    headers: { ...signed(id, bytes), ...headers },
  })
}
