import type { CommandName, Commands } from './commands.ts'
import { httpCall } from './http-call.ts'
import { Broken, must, NotChecked, shown } from './outcome.ts'

/** A payment to try, in whole units of the asset. */
export type Trial = { network: string; asset: string; amount: string }

/** The service that is looked at, and what its operator lends us beyond what the interface shows. */
export type Subject = {
  /** {base_url}, without a slash at its end. */
  url: string
  /** Has the write scope. */
  key: string
  /** Has the read scope. */
  readKey: string | null
  ca: string | null
  commands: Commands
  /** How much of USDC a test payment is. */
  amount: string
  /** Payments of other assets, which are to be converted. */
  others: readonly Trial[]
  /** How long `in real time` may take. */
  withinMs: number
}

export type Answer = { status: number; text: string; body: unknown }

export type Call = {
  path: string
  /** A body makes the call a POST. */
  body?: unknown
  /** Null sends none; the write key by default. */
  key?: string | null
}

/** Makes one call as the interface describes it. What is answered must be JSON. */
export async function call(subject: Subject, { path, body, key = subject.key }: Call): Promise<Answer> {
  const answer = await send(subject, { path, body, key })
  try {
    return { ...answer, body: JSON.parse(answer.text) as unknown }
  } catch {
    throw new Broken(`the answer to ${path} (status ${answer.status}) is not JSON: ${shown(answer.text)}`)
  }
}

/** Makes one call and looks at its status alone: what an error looks like is not shown. */
export async function statusOf(subject: Subject, wanted: Call): Promise<number> {
  return (await send(subject, { key: subject.key, ...wanted })).status
}

function send(
  { url, ca }: Subject,
  { path, body, key }: Omit<Call, 'key'> & { key: string | null },
): Promise<{ status: number; text: string }> {
  return httpCall({
    url: url + path,
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(key === null ? {} : { 'X-API-KEY': key }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(ca === null ? {} : { ca }),
  })
}

/** Success is any status of the 200s: which, is not shown. */
export function mustSucceed({ status, text }: { status: number; text: string }, what: string): void {
  must(status >= 200 && status < 300, `${what} was answered with ${status}: ${shown(text)}`)
}

/** Refused is any status of the 400s: which, is not shown. */
export function mustBeRefused(status: number, what: string): void {
  must(status >= 400 && status < 500, `${what} was answered with ${status}, and not refused`)
}

/** @throws NotChecked without a read key */
export function readKeyOf({ readKey }: Subject): string {
  if (readKey === null) throw new NotChecked('needs --read-key-file')
  return readKey
}

/** @throws NotChecked where the operator lent no such command */
export function lent({ commands }: Subject, name: CommandName, ...words: string[]): Promise<string> {
  const command = commands[name]
  if (command === undefined) throw new NotChecked(`needs --${name}`)
  return command(...words)
}
