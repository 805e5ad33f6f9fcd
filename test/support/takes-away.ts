type Rule = { what: string; of: RegExp }

const name = String.raw`(?:if (?:not )?exists )?(?:only )?"?([\w."]+)`

/** Of what a statement takes away, or asks more of whoever writes, the object. */
const rules: readonly Rule[] = [
  {
    what: 'drops',
    of: new RegExp(
      `^drop (?:table|view|materialized view|function|procedure|schema|type|domain|sequence|role) ${name}`,
    ),
  },
  {
    what: 'drops a column of',
    of: new RegExp(`^alter table ${name}.* drop (?:column )?(?!constraint|not null|default)\\w`),
  },
  { what: 'renames', of: new RegExp(`^alter \\w+ ${name}.* rename `) },
  { what: 'moves', of: new RegExp(`^alter \\w+ ${name}.* set schema `) },
  {
    what: 'changes a type of',
    of: new RegExp(`^alter table ${name}.* alter (?:column )?\\w+ (?:set data )?type `),
  },
  {
    what: 'drops a default of',
    of: new RegExp(`^alter table ${name}.* alter (?:column )?\\w+ drop default`),
  },
  { what: 'asks for a value in', of: new RegExp(`^alter table ${name}.* set not null`) },
  {
    what: 'asks for a value in a new column of',
    of: new RegExp(`^alter table ${name}.* add column (?!.*(?:default|generated)).*not null`),
  },
  {
    what: 'adds a condition to',
    of: new RegExp(
      `^alter table ${name}.* add (?:constraint \\w+ )?(?:check|unique|primary key|foreign key|exclude)`,
    ),
  },
  { what: 'adds a condition to', of: new RegExp(`^create unique index (?:\\w+ )?on ${name}`) },
  {
    what: 'takes a right to',
    of: new RegExp(`^revoke .* on (?:table |function |schema |all \\w+ in schema )?${name}`),
  },
]

/**
 * Whatever in a migration takes something away from a program that knows the schema before it; what the migration made
 * itself is nobody's yet, and what it drops to make it anew is there at its end.
 */
export function takesAway(migration: string): string[] {
  const statements = statementsOf(migration)
  const made = new Set(statements.flatMap((statement) => madeBy(statement) ?? []))
  return statements.flatMap((statement) =>
    rules.flatMap(({ what, of }) => {
      const object = of.exec(statement)?.[1]
      return object === undefined || made.has(object) ? [] : [`${what} ${object}`]
    }),
  )
}

function madeBy(statement: string): string | null {
  const made = new RegExp(
    `^create (?:or replace )?(?:unlogged )?(?:table|view|materialized view|function|procedure|schema|type|domain|sequence|role) ${name}`,
  )
  return made.exec(statement)?.[1] ?? null
}

/** In lower case, without comments, texts and bodies of functions. A partition that is made is no object of its own. */
function statementsOf(migration: string): string[] {
  return migration
    .replaceAll(/\$(\w*)\$.*?\$\1\$/gs, "''")
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/'(?:[^']|'')*'/g, "''")
    .split(';')
    .map((statement) => statement.toLowerCase().replaceAll(/\s+/g, ' ').trim())
    .filter((statement) => statement !== '')
}
