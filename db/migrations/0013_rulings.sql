-- What a person, or a policy in a person's place, decides about which evidence belongs together. It is evidence itself,
-- so that it holds when everything is decided anew.
alter table inbox drop constraint inbox_source_check;
alter table inbox add constraint inbox_source_check check (source in ('webhook', 'api', 'chain', 'person'));
