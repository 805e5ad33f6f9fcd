/** What a sender knows of one webhook it is about to send. */
export type Sending = { id: string; at: Date; body: Buffer }

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
