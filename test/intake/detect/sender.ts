/** What a sender knows of one webhook it is about to send. */
export type Sending = { id: string; at: Date; body: Buffer }

/** The address that the senders post to, which may be signed; HubSpot decodes only some of what is encoded in it. */
export const publicUrl = 'https://deposits.example'
export const line = { method: 'POST', path: '/webhooks/transfers?to=a%2Fb%20%3a&x=1' }

/** A sender of webhooks as they are in the world: shares no code with the verifiers. */
export type Sender = {
  name: string
  /** What it gives to whoever receives. */
  secret: string | null
  publicKeys?: string
  sign: (sending: Sending) => Record<string, string>
  /** What the settings file must say, without what is the default. */
  settings: Record<string, unknown>
}
