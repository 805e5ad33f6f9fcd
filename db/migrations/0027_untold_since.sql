-- Since when the oldest step of a deposit that the API or the chain knows has waited for its webhook. Deposits from
-- before have it from when they are decided next.
alter table deposit add column untold_since timestamptz;
