import type { Kysely, KyselyPlugin } from 'kysely'

type Counted<Tables> = {
  db: Kysely<Tables>
  count: () => number
  /** Of all that were returned. */
  rows: () => number
}

/** The same database, with every statement that goes through it counted, and every row that comes back. */
export function countStatements<Tables>(db: Kysely<Tables>): Counted<Tables> {
  let statements = 0
  let rows = 0
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      statements++
      return node
    },
    transformResult({ result }) {
      rows += result.rows.length
      return Promise.resolve(result)
    },
  }
  return { db: db.withPlugin(counting), count: () => statements, rows: () => rows }
}
