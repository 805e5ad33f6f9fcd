import { type EventDeclaration, type EventName, events, type Level } from './events.ts'

/** Destination of lines; a pino logger is one. */
export type LineSink = Readonly<Record<Level, (fields: object, text: string) => void>>

type Value =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly string[]
  | Readonly<Record<string, unknown>>
type FieldOf<Name extends EventName> = keyof (typeof events)[Name]['fields']

/** All fields that an event declares, and no others. */
export type EventFields<Name extends EventName> = {
  [Field in FieldOf<Name>]: Field extends 'err' ? unknown : Value
}

type EventArguments<Name extends EventName> = FieldOf<Name> extends never ? [] : [fields: EventFields<Name>]

/** Writes one line, with the level and text of the event. */
export function logEvent<Name extends EventName>(
  log: LineSink,
  name: Name,
  ...given: EventArguments<Name>
): void {
  const { level, text }: EventDeclaration = events[name]
  const [fields] = given as readonly [object?]
  log[level]({ event: name, ...fields }, text)
}
