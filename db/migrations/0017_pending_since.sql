-- When what waits came in, beside it: of many that wait, the first is found without reading the inbox.
alter table inbox_pending add column received_at timestamptz;
update inbox_pending set received_at = inbox.received_at from inbox where inbox.id = inbox_id;
alter table inbox_pending alter column received_at set not null;
