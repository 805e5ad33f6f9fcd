export type Level = 'debug' | 'info' | 'warn' | 'error'

/** One kind of line: `text` for people, and the name and meaning of each field. */
export type EventDeclaration<Field extends string = string> = {
  level: Level
  text: string
  fields: Readonly<Record<Field, string>>
}

/** Declares an event. A field named `err` takes any thrown value. */
export function event<Field extends string = never>(
  level: Level,
  text: string,
  fields: Readonly<Record<Field, string>> = {} as Record<Field, string>,
): EventDeclaration<Field> {
  return { level, text, fields }
}

/** The thrown value, with its causes. */
export const err =
  'What was thrown: type, message, code, details, causes, and the stack unless it has a code of ours.'
