export type Level = 'debug' | 'info' | 'warn' | 'error'

/** What one kind of line says: `text` for people, and the name and meaning of each field. */
export type EventDeclaration<Field extends string = string> = {
  level: Level
  text: string
  fields: Readonly<Record<Field, string>>
}

/** Declares an event. A field that is called `err` takes whatever was thrown. */
export function event<Field extends string = never>(
  level: Level,
  text: string,
  fields: Readonly<Record<Field, string>> = {} as Record<Field, string>,
): EventDeclaration<Field> {
  return { level, text, fields }
}

/** What was thrown, with its causes. */
export const err =
  'What was thrown: type, message, code, details, causes, and the stack unless it has a code of ours.'
