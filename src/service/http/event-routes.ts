import { z } from 'zod'
import { pageOf, pageQuery } from '../../http/pages.ts'
import { listDeliveries } from '../webhooks/deliveries.ts'
import { type EventRow, findEvent, listEvents, resendEvent, sendTest, testType } from '../webhooks/events.ts'
import { depositEvents } from '../webhooks/outbox.ts'
import { withdrawalEvents } from '../webhooks/withdrawal-events.ts'
import { readPage } from './pages.ts'
import { notFound, refusal } from './problem.ts'
import { type Api, defineRoute, ours } from './route.ts'
import { requireEndpoint } from './webhook-routes.ts'
import { deliverySchema, eventSchema, showDelivery, showEvent } from './webhook-schemas.ts'

const idParameter = z.strictObject({ id: z.string().max(64) })

/** More than the maximum number of endpoints. */
const deliveriesShown = 100

const eventsQuery = pageQuery.extend({
  type: z.enum([...depositEvents, ...withdrawalEvents, testType]).optional(),
  deposit: z.string().max(64).optional(),
})

/** Newest first. New events do not shift later pages. */
const list = defineRoute({
  method: 'get',
  path: '/v1/events',
  scope: 'read',
  summary: 'List events, the newest first',
  description: ours,
  query: eventsQuery,
  status: 200,
  answer: pageOf(eventSchema),
  refusals: ['cursor_invalid'],
  run: async ({ db }, { query }) => {
    const filter = { type: query.type, deposit: query.deposit }
    const { page, next_cursor } = await readPage('events', query, (range) => listEvents(db, filter, range))
    return { data: page.map(showEvent), next_cursor }
  },
})

const getOne = defineRoute({
  method: 'get',
  path: '/v1/events/{id}',
  scope: 'read',
  summary: 'Retrieve an event and its deliveries',
  description: ours,
  parameters: idParameter,
  status: 200,
  answer: eventSchema.extend({ deliveries: z.array(deliverySchema) }).meta({ id: 'EventWithDeliveries' }),
  refusals: ['not_found'],
  run: async ({ db }, { parameters: { id } }) => {
    const event = await find(db, id)
    return { ...showEvent(event), deliveries: await deliveriesOf(db, event) }
  },
})

/** Sends the same id and bytes. */
const resend = defineRoute({
  method: 'post',
  path: '/v1/events/{id}/resend',
  scope: 'write',
  summary: 'Send an event again',
  description: ours,
  parameters: idParameter,
  body: z.strictObject({ endpoint_id: z.string().max(64).optional() }).prefault({}),
  status: 200,
  answer: z.strictObject({ deliveries: z.array(deliverySchema) }),
  refusals: ['not_found', 'endpoint_inactive'],
  run: async ({ db }, { parameters: { id }, body }) => {
    const event = await find(db, id)
    const endpointId = body.endpoint_id ?? null
    const sent = await resendEvent(db, { event, endpointId, at: new Date() })
    if (endpointId !== null && sent.length === 0) {
      await requireEndpoint(db, endpointId)
      throw inactive(endpointId)
    }
    const all = await deliveriesOf(db, event)
    return {
      deliveries: all.filter((delivery) => sent.some((row) => row.endpoint_id === delivery.endpoint_id)),
    }
  },
})

const testEndpoint = defineRoute({
  method: 'post',
  path: `/v1/webhook-endpoints/{id}/test`,
  scope: 'write',
  summary: 'Send a test event to a webhook endpoint',
  description: ours,
  parameters: idParameter,
  status: 201,
  answer: eventSchema,
  refusals: ['not_found', 'endpoint_inactive'],
  run: async ({ db }, { parameters: { id } }) => {
    await requireEndpoint(db, id)
    const event = await sendTest(db, id, new Date())
    if (event === null) throw inactive(id)
    return showEvent(event)
  },
})

const deliveries = defineRoute({
  method: 'get',
  path: `/v1/webhook-endpoints/{id}/deliveries`,
  scope: 'read',
  summary: 'List the deliveries to a webhook endpoint, the newest first',
  description: ours,
  parameters: idParameter,
  query: pageQuery.extend({ status: deliverySchema.shape.status.optional() }),
  status: 200,
  answer: pageOf(deliverySchema),
  refusals: ['not_found', 'cursor_invalid'],
  run: async ({ db }, { parameters: { id }, query }) => {
    await requireEndpoint(db, id)
    const filter = { endpointId: id, status: query.status }
    const { page, next_cursor } = await readPage('deliveries', query, (range) =>
      listDeliveries(db, filter, range),
    )
    return { data: page.map(showDelivery), next_cursor }
  },
})

export const eventRoutes = [testEndpoint, deliveries, list, getOne, resend]

async function find(db: Api['db'], id: string): Promise<EventRow> {
  const event = await findEvent(db, id)
  if (event === undefined) throw notFound('event', id)
  return event
}

async function deliveriesOf(db: Api['db'], { id }: EventRow): Promise<z.output<typeof deliverySchema>[]> {
  const range = { below: null, limit: deliveriesShown }
  return (await listDeliveries(db, { eventId: id, status: undefined }, range)).map(showDelivery)
}

function inactive(endpointId: string) {
  return refusal('endpoint_inactive', `${endpointId} is not active; enable it first`)
}
