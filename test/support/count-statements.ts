import type { Kysely, KyselyPlugin } from 'kysely'

/** The same database, with every statement that goes through it counted. */
export function countStatements<Tables>(db: Kysely<Tables>): { db: Kysely<Tables>; count: () => number } {
  let statements = 0
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      statements++
      return node
    },
    transformResult: ({ result }) => Promise.resolve(result),
  }
  return { db: db.withPlugin(counting), count: () => statements }
}
