import { z } from 'zod'
import { findEndpoint } from '../webhooks/endpoints.ts'
import { signingSecrets } from '../webhooks/secrets.ts'
import type { EndpointRow } from '../webhooks/tables.ts'
import { refusal } from './problem.ts'
import type { Api } from './route.ts'
import { type endpointSchema, showEndpoint } from './webhook-schemas.ts'

export const root = '/v1/webhook-endpoints'
export const idParameter = z.strictObject({ id: z.string().max(64) })

/** Deleted ones are found as well: their history stays. */
export async function find(db: Api['db'], id: string): Promise<EndpointRow> {
  return (await findEndpoint(db, id)) ?? refuseUnknown(id)
}

export function refuseUnknown(id: string): never {
  throw refusal('not_found', `there is no webhook endpoint ${id}`)
}

export function refuseDeleted({ id, status }: EndpointRow): void {
  if (status === 'deleted') throw refusal('endpoint_inactive', `${id} was deleted; register it anew`)
}

export function refuseConfigured({ id, configured }: EndpointRow): void {
  if (configured) throw refusal('endpoint_configured', `${id} is changed where the service is set up`)
}

export async function show(db: Api['db'], endpoint: EndpointRow): Promise<z.output<typeof endpointSchema>> {
  return showEndpoint(endpoint, await signingSecrets(db, [endpoint.id], new Date()))
}
