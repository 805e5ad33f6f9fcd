import { type Answer, call, readKey, send, writeKey } from '../fixtures.ts'
import type { WebhookReceiver } from '../webhook-receiver.ts'
import type { Office } from './office.ts'

export const root = '/v1/webhook-endpoints'

type Endpoint = { receiver: WebhookReceiver; endpoint: Record<string, unknown>; id: string }

/** The calls of an integrator who looks after webhook endpoints. */
export type Calls = {
  get(path: string): Promise<Answer>
  post(path: string, body: unknown): Promise<Answer>
  /** A call that takes no body. */
  order(path: string): Promise<Answer>
  /** Registers a receiver of its own. */
  register(fields?: object): Promise<Endpoint>
  /** The status of the answer. */
  remove(id: unknown): Promise<number>
}

export function openCalls(office: Office): Calls {
  const { book } = office
  const post: Calls['post'] = (path, body) => call(`${book.url}${path}`, writeKey, body)
  return {
    get: (path) => call(`${book.url}${path}`, readKey),
    post,
    order: (path) => send('POST', `${book.url}${path}`, { key: writeKey }),
    register: async (fields = {}) => {
      const receiver = await office.receiver()
      await office.remove(receiver)
      const { body } = await post(root, { url: receiver.url, ...fields })
      return { receiver, endpoint: body, id: String(body['id']) }
    },
    remove: async (id) =>
      (await send('DELETE', `${book.url}${root}/${String(id)}`, { key: writeKey })).status,
  }
}
