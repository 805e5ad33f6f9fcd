/**
 * I5, told without the product's own views: addresses of the book of which some height up to the cursor of their network
 * was not read for every asset that is read there now, and those that reading has not taken up at all.
 */
export const notCovered = `
  with cursor as (
    select substr(name, 6) as network, (cursor #>> '{final,height}')::bigint as height
    from stream where name like 'scan/%' and cursor is not null
  ), wanted as (
    select watch.network, watch.number, watch.address, chain_network.assets,
      int8multirange(int8range(watch.from_height, greatest(watch.from_height, cursor.height + 1))) as heights
    from chain_watch watch join cursor using (network) join chain_network using (network)
  )
  select network, address, 'not read at ' || (wanted.heights - covered.heights)::text as problem
  from wanted, lateral (
    select coalesce(range_agg(coverage.heights), '{}') as heights from chain_coverage coverage
    where coverage.network = wanted.network and coverage.watched >= wanted.number
      and coverage.assets @> wanted.assets
  ) covered
  where not covered.heights @> wanted.heights
  union all
  select network, address, 'not taken up' from address_book join cursor using (network)
  where not exists (
    select from chain_watch watch where watch.network = address_book.network and watch.address = address_book.address
  )
  union all
  select network, '', 'the cursor is at ' || cursor.height || ', coverage is held against ' || chain_network.height
  from cursor left join chain_network using (network) where cursor.height is distinct from chain_network.height`
