import { listDeliveries } from '../webhooks/deliveries.ts'
import { sendTest } from '../webhooks/events.ts'
import { refusal } from './problem.ts'
import { readPage } from './read-page.ts'
import { defineRoute } from './route.ts'
import { pageOf, pageQuery } from './schemas.ts'
import { find, idParameter, root } from './webhook-endpoint.ts'
import { deliverySchema, eventSchema, showDelivery, showEvent } from './webhook-schemas.ts'

const testEndpoint = defineRoute({
  method: 'post',
  path: `${root}/{id}/test`,
  scope: 'write',
  summary: 'Send a test event to a webhook endpoint',
  origin: 'ours',
  parameters: idParameter,
  status: 201,
  answer: eventSchema,
  refusals: ['not_found', 'endpoint_inactive'],
  run: async ({ db }, { parameters: { id } }) => {
    await find(db, id)
    const event = await sendTest(db, id, new Date())
    if (event === null) throw refusal('endpoint_inactive', `${id} is sent nothing; enable it first`)
    return showEvent(event)
  },
})

const deliveries = defineRoute({
  method: 'get',
  path: `${root}/{id}/deliveries`,
  scope: 'read',
  summary: 'List the deliveries to a webhook endpoint, the newest first',
  origin: 'ours',
  parameters: idParameter,
  query: pageQuery.extend({ status: deliverySchema.shape.status.optional() }),
  status: 200,
  answer: pageOf(deliverySchema),
  refusals: ['not_found', 'cursor_invalid'],
  run: async ({ db }, { parameters: { id }, query }) => {
    await find(db, id)
    const filter = { endpointId: id, status: query.status }
    const { page, next_cursor } = await readPage('deliveries', query, (reading) =>
      listDeliveries(db, filter, reading),
    )
    return { data: page.map(showDelivery), next_cursor }
  },
})

export const webhookDeliveryRoutes = [testEndpoint, deliveries]
