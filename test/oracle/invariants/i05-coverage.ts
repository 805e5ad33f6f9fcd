import { notCovered } from '../chain-coverage.ts'

/** I5: every height up to the cursor was read, and what is remembered of blocks is of the chain. */
export const i5 = {
  'every height up to the cursor was read for every address': notCovered,

  'every block that is remembered is of the chain': `
    select stream.name, mark from stream cross join lateral (
      select cursor -> 'final' as mark union all select jsonb_array_elements(cursor -> 'trail')
    ) as kept
    join hold.network on true
    where stream.name = 'scan/' || network.name and cursor is not null
      and (mark ->> 'height')::bigint <= network.head
      and not exists (
        select from hold.block
        where block.network = network.name and height = (mark ->> 'height')::bigint and hash = mark ->> 'hash')`,

  'each block that is remembered links to the one before it': `
    select network, height, hash, parent_hash, before from (
      select network, height, hash, parent_hash, lag(hash) over (partition by network order by height) as before
      from hold.block
    ) as chain where parent_hash <> before`,

  'no cursor is beyond what is final': `
    select cursor.network, cursor.height, network.final from hold.cursor
    join hold.network on network.name = cursor.network where cursor.height > network.final`,
} as const satisfies Record<string, string>
