mod carriers;
mod files;
mod garbage;
mod lag;
mod real;
mod script;
