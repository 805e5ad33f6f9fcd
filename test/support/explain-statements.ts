import type { KyselyPlugin, QueryResult, RootOperationNode, Transaction, UnknownRow } from 'kysely'

type Explained<Tables> = { tx: Transaction<Tables>; plans: string[] }

/** The same transaction, in which raw statements are planned and not carried out: each comes back without rows. */
export function explainStatements<Tables>(tx: Transaction<Tables>): Explained<Tables> {
  const plans: string[] = []
  const explaining: KyselyPlugin = {
    transformQuery: ({ node }): RootOperationNode => {
      if (node.kind !== 'RawNode') return node
      const [first = '', ...others] = node.sqlFragments
      return { ...node, sqlFragments: [`explain (costs off) ${first}`, ...others] }
    },
    transformResult: ({ result }): Promise<QueryResult<UnknownRow>> => {
      plans.push(result.rows.map((row) => String(row['QUERY PLAN'])).join('\n'))
      return Promise.resolve({ ...result, rows: [] })
    },
  }
  return { tx: tx.withPlugin(explaining), plans }
}
