/**
 * Writes down every change of a stream's lease beside the table, whoever makes it. A row of a stream is locked while it
 * is changed, so the numbers of its changes are in the order of their commits.
 */
export const keepLeaseHistory = `
  create schema history;
  create table history.lease (
    id bigint generated always as identity, at timestamptz not null, stream text not null,
    holder text, fence bigint not null, expires_at timestamptz not null, has_moved boolean not null,
    was_holder text, was_fence bigint, was_expires_at timestamptz
  );
  create function history.keep() returns trigger language plpgsql security definer as $$
  begin
    insert into history.lease
      (at, stream, holder, fence, expires_at, has_moved, was_holder, was_fence, was_expires_at)
    values (clock_timestamp(), new.name, new.holder, new.fence, new.expires_at,
      tg_op = 'UPDATE' and new.cursor is distinct from old.cursor, old.holder, old.fence, old.expires_at);
    return null;
  end $$;
  create trigger keep after insert or update on stream for each row execute function history.keep()`

/** Each finds what contradicts it, and so finds nothing. */
export const leaseContradictions: Readonly<Record<string, string>> = {
  'a fence never shrinks, and grows by one with each new holder': `
    select * from history.lease where stream not like 'tick/%' and was_fence is not null
      and fence <> was_fence + (holder is not null and holder is distinct from was_holder)::int`,
  'a fence has one holder': `
    select stream, fence, array_agg(distinct holder) as holders from history.lease
    where holder is not null group by stream, fence having count(distinct holder) > 1`,
  'a stream is taken once its lease was given back or ran out, never before': `
    select * from history.lease
    where holder <> was_holder and was_expires_at >= at`,
  'nothing is read on without a holder, nor by one that takes the stream at that moment': `
    select * from history.lease where has_moved and (holder is null or holder is distinct from was_holder)`,
  'of all schedulers one has a tick': `
    select * from (
      select stream, at, at - lag(at) over (partition by stream order by id) as pause from history.lease
      where stream like 'tick/scan %' or stream = 'tick/sweep'
    ) tick where pause < interval '300 milliseconds'`,
}

/** How long each stream of a holder that is gone stood still after its lease had run out. */
export const takeovers = `
  select distinct on (stream) stream, holder, extract(epoch from at - was_expires_at)::float8 as seconds
  from history.lease where was_holder = $1 and holder <> was_holder order by stream, id`

export const holdersNow = `
  select name, holder from stream where name = any($1) and expires_at > now()`
