-- What was last read of each record of the service's API. It tells a record that changed, also back to what it was
-- before, from one that did not, and finds those that the service no longer lists. What the records say is in the inbox.
create table api_record (
  service_id text primary key,
  -- SHA-256 of the record's text, and how many revisions of it were kept.
  hash text not null,
  revision integer not null check (revision >= 0),
  -- The time that the list is in order of, as the record states it.
  listed_at timestamptz,
  -- When the request was sent that last brought it. What an earlier request brings is older, whenever it comes in.
  read_at timestamptz not null,
  -- How often in a row it was not found: by full readings, or where it was asked for alone.
  misses integer not null default 0 check (misses >= 0),
  -- Since when it is known that the service has it no more.
  gone_at timestamptz
);

-- No other column that each reading writes is indexed: millions of rows are then written in place.
create index api_record_missed on api_record (misses) where misses > 0 and gone_at is null;

grant select, insert, update on api_record to depositd_daemon;

-- Records that were read before this table was there. The next reading of each counts as its first revision, which the
-- inbox knows already.
insert into api_record (service_id, hash, revision, read_at)
  select service_id, '', 0, api_at from deposit where service_id is not null and api_at is not null;
