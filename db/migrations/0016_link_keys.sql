-- Transactions are linked by their ids alone, without the network: an id names one transaction wherever it is, so that
-- what the service places on the wrong network still meets what its chain shows. Where one id was found on two networks
-- the older group has the key from now on.
with network_key as (delete from link_key where key ~ '^(in|out)/' returning key, group_id)
insert into link_key (key, group_id)
select regexp_replace(key, '^(in|out)/[^/]+/', '\1/'), min(group_id) from network_key group by 1;
