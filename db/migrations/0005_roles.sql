-- Two roles without login. The daemon works as depositd_daemon, which may append to the books and never change
-- them; people and tools that only read are members of depositd_accountant. Roles belong to the whole server, so
-- another database on it may have made them already.
do $$
begin
  begin
    create role depositd_daemon nologin;
  exception when duplicate_object or unique_violation then null;
  end;
  begin
    create role depositd_accountant nologin;
  exception when duplicate_object or unique_violation then null;
  end;
  execute format('grant depositd_daemon to %I', current_user);
end
$$;

grant usage on schema public to depositd_daemon;
grant select, insert on all tables in schema public to depositd_daemon;
grant usage on all sequences in schema public to depositd_daemon;
grant update on inbox_pending, evidence_group, link_key, evidence, stream, asset, owner, address_book, deposit, mismatch to depositd_daemon;
grant delete on inbox_pending, address_book to depositd_daemon;
revoke insert, update, delete, truncate on kysely_migration, kysely_migration_lock from depositd_daemon;

grant usage on schema accounting to depositd_accountant, depositd_daemon;
grant select on all tables in schema accounting to depositd_accountant, depositd_daemon;
