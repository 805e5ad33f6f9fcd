import type { Generated, Selectable } from 'kysely'
import type { SigningKeyScheme } from './signing-key.ts'

export type WebhookTables = {
  'service.event': EventTable
  'service.webhook_endpoint': EndpointTable
  'service.webhook_secret': SecretTable
  'service.delivery': DeliveryTable
  'service.delivery_attempt': AttemptTable
}

export type EndpointRow = Selectable<EndpointTable>
export type SecretRow = Selectable<SecretTable>
export type DeliveryRow = Selectable<DeliveryTable>
export type AttemptRow = Selectable<AttemptTable>

/** `deposit_id` and `revision` are null only for the test of an endpoint. */
type EventTable = {
  id: string
  sequence: Generated<bigint>
  type: string
  deposit_id: string | null
  revision: number | null
  body: string
  created_at: Date
}

type EndpointTable = {
  id: string
  sequence: Generated<bigint>
  url: string
  types: string[] | null
  configured: boolean
  status: Generated<'active' | 'disabled' | 'deleted'>
  disabled_because: 'gone' | 'requested' | null
  resume_at: Date | null
  created_at: Generated<Date>
}

type SecretTable = {
  endpoint_id: string
  version: number
  scheme: SigningKeyScheme
  sealed: Buffer
  public_key: string | null
  created_at: Generated<Date>
  expires_at: Date | null
}

/** `cancelled`: the endpoint was disabled or deleted before the delivery ended. */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'cancelled'

type DeliveryTable = {
  event_id: string
  endpoint_id: string
  sequence: Generated<bigint>
  status: Generated<DeliveryStatus>
  attempts: Generated<number>
  tries: Generated<number>
  next_at: Generated<Date | null>
  created_at: Generated<Date>
  ended_at: Date | null
}

type AttemptTable = {
  event_id: string
  endpoint_id: string
  number: number
  started_at: Date
  duration_ms: number | null
  status_code: number | null
  problem: string | null
  answer: string | null
}
