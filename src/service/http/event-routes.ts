import { z } from 'zod'
import { listDeliveries } from '../webhooks/deliveries.ts'
import { findEndpoint } from '../webhooks/endpoints.ts'
import { type EventRow, findEvent, listEvents, resendEvent, testType } from '../webhooks/events.ts'
import { depositEvents } from '../webhooks/outbox.ts'
import { refusal } from './problem.ts'
import { readPage } from './read-page.ts'
import { type Api, defineRoute } from './route.ts'
import { pageOf, pageQuery } from './schemas.ts'
import { deliverySchema, eventSchema, showDelivery, showEvent } from './webhook-schemas.ts'

const idParameter = z.strictObject({ id: z.string().max(64) })

/** More than the endpoints that there can be at a time. */
const deliveriesShown = 100

const eventsQuery = pageQuery.extend({
  type: z.enum([...depositEvents, testType]).optional(),
  deposit: z.string().max(64).optional(),
})

/** Newest first. New events never move a page that was begun: a cursor names the last event read. */
const list = defineRoute({
  method: 'get',
  path: '/v1/events',
  scope: 'read',
  summary: 'List events, the newest first',
  origin: 'ours',
  query: eventsQuery,
  status: 200,
  answer: pageOf(eventSchema),
  refusals: ['cursor_invalid'],
  run: async ({ db }, { query }) => {
    const filter = { type: query.type, deposit: query.deposit }
    const { page, next_cursor } = await readPage('events', query, (reading) =>
      listEvents(db, filter, reading),
    )
    return { data: page.map(showEvent), next_cursor }
  },
})

const getOne = defineRoute({
  method: 'get',
  path: '/v1/events/{id}',
  scope: 'read',
  summary: 'Retrieve an event and its deliveries',
  origin: 'ours',
  parameters: idParameter,
  status: 200,
  answer: eventSchema.extend({ deliveries: z.array(deliverySchema) }).meta({ id: 'EventWithDeliveries' }),
  refusals: ['not_found'],
  run: async ({ db }, { parameters: { id } }) => {
    const event = await find(db, id)
    return { ...showEvent(event), deliveries: await deliveriesOf(db, event) }
  },
})

/** The same id and the same bytes go out again, to one endpoint or to all that want the type. */
const resend = defineRoute({
  method: 'post',
  path: '/v1/events/{id}/resend',
  scope: 'write',
  summary: 'Send an event again',
  origin: 'ours',
  parameters: idParameter,
  body: z.strictObject({ endpoint_id: z.string().max(64).optional() }).prefault({}),
  status: 200,
  answer: z.strictObject({ deliveries: z.array(deliverySchema) }),
  refusals: ['not_found', 'endpoint_inactive'],
  run: async ({ db }, { parameters: { id }, body }) => {
    const event = await find(db, id)
    const endpointId = body.endpoint_id ?? null
    const sent = await resendEvent(db, { event, endpointId, at: new Date() })
    if (endpointId !== null && sent.length === 0) await refuseEndpoint(db, endpointId)
    const all = await deliveriesOf(db, event)
    return { deliveries: all.filter((one) => sent.some((row) => row.endpoint_id === one.endpoint_id)) }
  },
})

export const eventRoutes = [list, getOne, resend]

async function find(db: Api['db'], id: string): Promise<EventRow> {
  const event = await findEvent(db, id)
  if (event === undefined) throw refusal('not_found', `there is no event ${id}`)
  return event
}

async function deliveriesOf(db: Api['db'], { id }: EventRow): Promise<z.output<typeof deliverySchema>[]> {
  const reading = { below: null, limit: deliveriesShown }
  return (await listDeliveries(db, { eventId: id, status: undefined }, reading)).map(showDelivery)
}

async function refuseEndpoint(db: Api['db'], id: string): Promise<never> {
  if ((await findEndpoint(db, id)) === undefined) {
    throw refusal('not_found', `there is no webhook endpoint ${id}`)
  }
  throw refusal('endpoint_inactive', `${id} is sent nothing; enable it first`)
}
